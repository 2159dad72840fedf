/** The server parses the keywords in this order. Values that are not objects pass. */
import { BsonType, CommandError, elementsOf, FieldIterator, typeName, type RawValue } from '@shardlab/bson'
import { nonNegativeArgument } from '../../values/integer-argument.js'
import { compilePattern, type Pattern } from '../patterns/pattern.js'
import {
  checkArray,
  fieldsOfObject,
  mismatch,
  propertyReader,
  quoted,
  unparsable,
  type Keyword,
  type KeywordCall,
  type Keywords,
  type SchemaTest,
} from './keyword.js'

const required: Keyword = ({ name, argument }) => {
  checkArray(name, argument)
  const names = new Set<string>()
  for (const property of elementsOf(argument)) {
    if (property.type !== BsonType.string)
      throw mismatch(name, `an array of strings, but found an element of type: ${typeName(property.type)}`)
    if (names.has(property.asString())) throw unparsable(name, 'array cannot contain duplicate values')
    names.add(property.asString())
  }
  if (names.size === 0) throw unparsable(name, 'cannot be an empty array')
  const readers = Array.from(names, propertyReader)
  return (value) => value.type !== BsonType.object || readers.every((read) => read(value) !== undefined)
}

const properties: Keyword = ({ name, argument, compile }) => {
  const tests = fieldsOfObject(name, argument).map(([property, schema]) => {
    if (schema.type !== BsonType.object)
      throw new CommandError('TypeMismatch', `Nested schema for $jsonSchema property '${property}' must be an object`)
    return { read: propertyReader(property), test: compile(schema) }
  })
  return (value) =>
    value.type !== BsonType.object ||
    tests.every(({ read, test }) => {
      const field = read(value)
      return field === undefined || test(field)
    })
}

function everyField(test: (name: string, value: RawValue) => boolean): SchemaTest {
  return (value) => {
    if (value.type !== BsonType.object) return true
    for (const it = new FieldIterator(value.bytes, value.start); it.next();)
      if (!test(it.name(), it.value())) return false
    return true
  }
}

function patternsOf(keyword: string, argument: RawValue): { pattern: Pattern; schema: RawValue }[] {
  return fieldsOfObject(keyword, argument).map(([pattern, schema]) => {
    if (schema.type !== BsonType.object)
      throw new CommandError('TypeMismatch', `${quoted(keyword)} has property '${pattern}' which is not an object`)
    return { pattern: compilePattern(pattern, ''), schema }
  })
}

const patternProperties: Keyword = ({ name, argument, compile }) => {
  const tests = patternsOf(name, argument).map(({ pattern, schema }) => ({ pattern, test: compile(schema) }))
  return everyField((field, value) => tests.every(({ pattern, test }) => !pattern.test(field) || test(value)))
}

const additionalProperties: Keyword = ({ name, argument, sibling, compile }) => {
  if (argument.type !== BsonType.bool && argument.type !== BsonType.object)
    throw mismatch(name, 'an object or a boolean')
  const given = sibling('properties')
  const known = new Set(given === undefined ? [] : fieldsOfObject('properties', given).map(([property]) => property))
  const givenPatterns = sibling('patternProperties')
  const patterns = givenPatterns === undefined ? [] : patternsOf('patternProperties', givenPatterns)
  const test = argument.type === BsonType.bool ? () => argument.asBool() : compile(argument)
  return everyField(
    (field, value) => known.has(field) || patterns.some(({ pattern }) => pattern.test(field)) || test(value),
  )
}

function propertyCount(fits: (fields: number, bound: number) => boolean): Keyword {
  return ({ name, argument }) => {
    const bound = Number(nonNegativeArgument(name, argument))
    return (value) => {
      if (value.type !== BsonType.object) return true
      let fields = 0
      for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields++
      return fits(fields, bound)
    }
  }
}

/**
 * `rule`: a schema for the object that has the property, or the names of properties that it must
 * have. Null: the rule is a title or a description.
 */
function dependency({ name, compile }: KeywordCall, property: string, rule: RawValue): SchemaTest | null {
  if (rule.type === BsonType.object) return compile(rule)
  if (rule.type === BsonType.string && (property === 'title' || property === 'description')) return null
  const where = `in ${quoted(name)}`
  if (rule.type !== BsonType.array)
    throw new CommandError('TypeMismatch', `property '${property}' ${where} must be either an object or an array`)
  const names = new Set<string>()
  for (const other of elementsOf(rule)) {
    if (other.type !== BsonType.string)
      throw new CommandError(
        'TypeMismatch',
        `array '${property}' ${where} can only contain strings, but found element of type: ${typeName(other.type)}`,
      )
    const text = other.asString()
    if (names.has(text))
      throw new CommandError('FailedToParse', `array '${property}' ${where} contains duplicate element: ${text}`)
    names.add(text)
  }
  if (names.size === 0)
    throw new CommandError('FailedToParse', `property '${property}' ${where} cannot be an empty array`)
  const readers = Array.from(names, propertyReader)
  return (value) => readers.every((read) => read(value) !== undefined)
}

const dependencies: Keyword = (call) => {
  const rules = fieldsOfObject(call.name, call.argument).flatMap(([property, rule]) => {
    const test = dependency(call, property, rule)
    return test === null ? [] : [{ read: propertyReader(property), test }]
  })
  return (value) =>
    value.type !== BsonType.object || rules.every(({ read, test }) => read(value) === undefined || test(value))
}

export const objectKeywords: Keywords = [
  ['required', required],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['minProperties', propertyCount((fields, bound) => fields >= bound)],
  ['maxProperties', propertyCount((fields, bound) => fields <= bound)],
  ['dependencies', dependencies],
]
