/** The server parses the keywords in this order. */
import { BsonType, CommandError, elementsOf, typeName } from '@shardlab/bson'
import { checkArray, mismatch, quoted, unparsable, type Keyword, type Keywords, type SchemaTest } from './keyword.js'
import { unorderedKey } from './unordered.js'

function combination(combine: (tests: readonly SchemaTest[]) => SchemaTest): Keyword {
  return ({ name, argument, compile }) => {
    if (argument.type !== BsonType.array) throw mismatch(name, 'an array')
    const schemas = elementsOf(argument)
    if (schemas.length === 0) throw new CommandError('BadValue', `${quoted(name)} must be a non-empty array`)
    return combine(
      schemas.map((schema) => {
        if (schema.type !== BsonType.object)
          throw mismatch(name, `an array of objects, but found an element of type ${typeName(schema.type)}`)
        return compile(schema)
      }),
    )
  }
}

const not: Keyword = ({ name, argument, compile }) => {
  if (argument.type !== BsonType.object)
    throw mismatch(name, `an object, but found an element of type ${typeName(argument.type)}`)
  const test = compile(argument)
  return (value) => !test(value)
}

const enumeration: Keyword = ({ name, argument }) => {
  checkArray(name, argument)
  const values = elementsOf(argument)
  if (values.length === 0) throw unparsable(name, 'cannot be an empty array')
  const keys = new Set(values.map(unorderedKey))
  if (keys.size < values.length) throw unparsable(name, 'array cannot contain duplicate values.')
  return (value) => keys.has(unorderedKey(value))
}

export const logicalKeywords: Keywords = [
  ['allOf', combination((tests) => (value) => tests.every((test) => test(value)))],
  ['anyOf', combination((tests) => (value) => tests.some((test) => test(value)))],
  ['oneOf', combination((tests) => (value) => tests.filter((test) => test(value)).length === 1)],
  ['not', not],
  ['enum', enumeration],
]
