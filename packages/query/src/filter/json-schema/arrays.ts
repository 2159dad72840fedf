/** The server parses the keywords in this order. Values that are not arrays pass. */
import { BsonType, CommandError, elementsOf, typeName } from '@shardlab/bson'
import { nonNegativeArgument } from '../../values/integer-argument.js'
import { mismatch, quoted, type Keyword, type Keywords, type SchemaTest } from './keyword.js'
import { unorderedKey } from './unordered.js'

function itemCount(fits: (items: number, bound: number) => boolean): Keyword {
  return ({ name, argument }) => {
    const bound = Number(nonNegativeArgument(name, argument))
    return (value) => value.type !== BsonType.array || fits(elementsOf(value).length, bound)
  }
}

const uniqueItems: Keyword = ({ name, argument }) => {
  if (argument.type !== BsonType.bool) throw mismatch(name, 'a boolean')
  if (!argument.asBool()) return null
  return (value) => {
    if (value.type !== BsonType.array) return true
    const items = elementsOf(value)
    return new Set(items.map(unorderedKey)).size === items.length
  }
}

function everyItem(test: SchemaTest, from: number): SchemaTest {
  return (value) =>
    value.type !== BsonType.array || elementsOf(value).every((item, index) => index < from || test(item))
}

const items: Keyword = ({ name, argument, compile }) => {
  if (argument.type === BsonType.object) return everyItem(compile(argument), 0)
  if (argument.type !== BsonType.array) throw mismatch(name, `an array or an object, not ${typeName(argument.type)}`)
  const tests = elementsOf(argument).map((schema) => {
    if (schema.type !== BsonType.object)
      throw new CommandError(
        'TypeMismatch',
        `${quoted(name)} requires that each element of the array is an object, but found a ${typeName(schema.type)}`,
      )
    return compile(schema)
  })
  return (value) =>
    value.type !== BsonType.array || elementsOf(value).every((item, index) => tests[index]?.(item) ?? true)
}

/** Has an effect only next to a list of `items`. */
const additionalItems: Keyword = ({ name, argument, sibling, compile }) => {
  if (argument.type !== BsonType.bool && argument.type !== BsonType.object)
    throw mismatch(name, `either an object or a boolean, but got a ${typeName(argument.type)}`)
  const test = argument.type === BsonType.bool ? () => argument.asBool() : compile(argument)
  const listed = sibling('items')
  return listed?.type === BsonType.array ? everyItem(test, elementsOf(listed).length) : null
}

export const arrayKeywords: Keywords = [
  ['minItems', itemCount((count, bound) => count >= bound)],
  ['maxItems', itemCount((count, bound) => count <= bound)],
  ['uniqueItems', uniqueItems],
  ['items', items],
  ['additionalItems', additionalItems],
]
