/** $jsonSchema: draft 4 with `bsonType`. Keywords say nothing about values of types that they are not for. */
import {
  BsonType,
  CommandError,
  compareValues,
  elementsOf,
  FieldIterator,
  findField,
  typeName,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { exactInteger, toNumber } from '../values/arithmetic.js'
import { remainderOfDecimals } from '../values/decimal.js'
import { numberTypes, typeOfAlias } from '../values/type-alias.js'
import { compilePattern } from './pattern.js'

export type SchemaTest = (value: RawValue) => boolean

type Compile = (argument: RawValue, schema: RawValue, compile: (schema: RawValue) => SchemaTest, strings?: StringComparator) => SchemaTest

function mismatch(keyword: string, wanted: string): CommandError {
  return new CommandError('TypeMismatch', `$jsonSchema keyword '${keyword}' must be ${wanted}`)
}

const sibling = (schema: RawValue, name: string) => findField(schema.bytes, name, schema.start)

function fieldsOfObject(keyword: string, value: RawValue): [string, RawValue][] {
  if (value.type !== BsonType.object) throw mismatch(keyword, 'an object')
  const fields: [string, RawValue][] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields.push([it.name(), it.value()])
  return fields
}

function count(keyword: string, value: RawValue): number {
  const integer = value.isNumber() ? exactInteger(value) : null
  if (integer === null || integer < 0n) throw new CommandError('FailedToParse', `Expected a non-negative integer in: ${keyword}`)
  return Number(integer)
}

const jsonTypes: Readonly<Record<string, readonly number[]>> = {
  array: [BsonType.array],
  boolean: [BsonType.bool],
  null: [BsonType.null],
  number: numberTypes,
  object: [BsonType.object],
  string: [BsonType.string],
}

function typesOf(keyword: 'type' | 'bsonType'): Compile {
  return (argument) => {
    const names = argument.type === BsonType.array ? elementsOf(argument) : [argument]
    const types = new Set<number>()
    for (const name of names) {
      if (name.type !== BsonType.string) throw mismatch(keyword, 'either a string or an array of strings')
      const text = name.asString()
      if (keyword === 'type' && text === 'integer')
        throw new CommandError('BadValue', "$jsonSchema type 'integer' is not currently supported.")
      const one = typeOfAlias(text)
      const found = keyword === 'type' ? jsonTypes[text] : text === 'number' ? numberTypes : one === undefined ? undefined : [one]
      if (found === undefined) throw new CommandError('BadValue', `Unknown type name alias: ${text}`)
      for (const type of found) types.add(type)
    }
    return (value) => types.has(value.type)
  }
}

function limit(keyword: string, exclusiveKeyword: string, sign: 1 | -1): Compile {
  return (argument, schema) => {
    if (!argument.isNumber()) throw mismatch(keyword, 'a number')
    const exclusive = sibling(schema, exclusiveKeyword)?.asBool() ?? false
    return (value) => {
      if (!value.isNumber()) return true
      const order = compareValues(value, argument) * sign
      return exclusive ? order > 0 : order >= 0
    }
  }
}

function exclusive(keyword: string, needed: string): Compile {
  return (argument, schema) => {
    if (argument.type !== BsonType.bool) throw mismatch(keyword, 'a boolean')
    if (sibling(schema, needed) === undefined)
      throw new CommandError('FailedToParse', `$jsonSchema keyword '${needed}' must be a present if ${keyword} is present`)
    return () => true
  }
}

const codePoints = (value: RawValue) => Array.from(value.asString()).length
const arrayLength = (value: RawValue) => elementsOf(value).length

function fieldCount(value: RawValue): number {
  let fields = 0
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields++
  return fields
}

function sized(
  keyword: string,
  type: number,
  sizeOf: (value: RawValue) => number,
  fits: (size: number, limit: number) => boolean,
): Compile {
  return (argument) => {
    const bound = count(keyword, argument)
    return (value) => value.type !== type || fits(sizeOf(value), bound)
  }
}

const atMost = (size: number, bound: number) => size <= bound
const atLeast = (size: number, bound: number) => size >= bound

function schemas(keyword: string, argument: RawValue, compile: (schema: RawValue) => SchemaTest): SchemaTest[] {
  if (argument.type !== BsonType.array) throw mismatch(keyword, 'an array')
  const elements = elementsOf(argument)
  if (elements.length === 0) throw new CommandError('BadValue', `$jsonSchema keyword '${keyword}' must be a non-empty array`)
  return elements.map((element) => {
    if (element.type !== BsonType.object)
      throw new CommandError(
        'TypeMismatch',
        `$jsonSchema keyword '${keyword}' must be an array of objects, but found an element of type ${typeName(element.type)}`,
      )
    return compile(element)
  })
}

function strings(keyword: string, argument: RawValue): string[] {
  if (argument.type !== BsonType.array) throw mismatch(keyword, `an array, but found an element of type ${typeName(argument.type)}`)
  return elementsOf(argument).map((element) => {
    if (element.type !== BsonType.string) throw mismatch(keyword, 'an array of strings')
    return element.asString()
  })
}

/** A schema, or a boolean that lets everything or nothing pass. */
function schemaOrBool(keyword: string, argument: RawValue, compile: (schema: RawValue) => SchemaTest): SchemaTest {
  if (argument.type === BsonType.bool) return () => argument.asBool()
  if (argument.type !== BsonType.object) throw mismatch(keyword, 'either an object or a boolean')
  return compile(argument)
}

const properties: Compile = (argument, _schema, compile) => {
  const tests = fieldsOfObject('properties', argument).map(([name, schema]) => {
    if (schema.type !== BsonType.object)
      throw new CommandError('TypeMismatch', `Nested schema for $jsonSchema property '${name}' must be an object`)
    return { name, test: compile(schema) }
  })
  return (value) =>
    value.type !== BsonType.object ||
    tests.every(({ name, test }) => {
      const field = findField(value.bytes, name, value.start)
      return field === undefined || test(field)
    })
}

const patternsOf = (argument: RawValue | undefined) =>
  argument === undefined
    ? []
    : fieldsOfObject('patternProperties', argument).map(([name, schema]) => ({ pattern: compilePattern(name, ''), schema }))

const patternProperties: Compile = (argument, _schema, compile) => {
  const tests = patternsOf(argument).map(({ pattern, schema }) => ({ pattern, test: compile(schema) }))
  return everyField((name, value) => tests.every(({ pattern, test }) => !pattern.test(name) || test(value)))
}

function everyField(test: (name: string, value: RawValue) => boolean): SchemaTest {
  return (value) => {
    if (value.type !== BsonType.object) return true
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) if (!test(it.name(), it.value())) return false
    return true
  }
}

const additionalProperties: Compile = (argument, schema, compile) => {
  const given = sibling(schema, 'properties')
  const known = new Set(given === undefined ? [] : fieldsOfObject('properties', given).map(([name]) => name))
  const patterns = patternsOf(sibling(schema, 'patternProperties'))
  const test = schemaOrBool('additionalProperties', argument, compile)
  return everyField((name, value) => known.has(name) || patterns.some(({ pattern }) => pattern.test(name)) || test(value))
}

const required: Compile = (argument) => {
  const names = strings('required', argument)
  if (names.length === 0) throw new CommandError('FailedToParse', "$jsonSchema keyword 'required' cannot be an empty array")
  return (value) => value.type !== BsonType.object || names.every((name) => findField(value.bytes, name, value.start) !== undefined)
}

const dependencies: Compile = (argument, _schema, compile) => {
  const rules = fieldsOfObject('dependencies', argument).map(([name, rule]) => {
    if (rule.type === BsonType.object) return { name, test: compile(rule) }
    const names = strings('dependencies', rule)
    return { name, test: (value: RawValue) => names.every((other) => findField(value.bytes, other, value.start) !== undefined) }
  })
  return (value) =>
    value.type !== BsonType.object ||
    rules.every(({ name, test }) => findField(value.bytes, name, value.start) === undefined || test(value))
}

const items: Compile = (argument, schema, compile) => {
  if (argument.type === BsonType.object) {
    const test = compile(argument)
    return (value) => value.type !== BsonType.array || elementsOf(value).every(test)
  }
  if (argument.type !== BsonType.array) throw mismatch('items', 'an array or an object')
  const tests = elementsOf(argument).map(compile)
  const rest = sibling(schema, 'additionalItems')
  const others = rest === undefined ? () => true : schemaOrBool('additionalItems', rest, compile)
  return (value) => value.type !== BsonType.array || elementsOf(value).every((element, index) => (tests[index] ?? others)(element))
}

const multipleOf: Compile = (argument) => {
  if (!argument.isNumber()) throw mismatch('multipleOf', 'a number')
  if (toNumber(argument) <= 0) throw new CommandError('FailedToParse', "$jsonSchema keyword 'multipleOf' must have a positive value")
  return (value) => !value.isNumber() || toNumber(remainderOfDecimals(value, argument)!) === 0
}

const enumOf: Compile = (argument, _schema, _compile, collation) => {
  if (argument.type !== BsonType.array) throw mismatch('enum', `an array, but found ${typeName(argument.type)}`)
  const values = elementsOf(argument)
  if (values.length === 0) throw new CommandError('FailedToParse', "$jsonSchema keyword 'enum' cannot be an empty array")
  return (value) => values.some((candidate) => compareValues(candidate, value, collation) === 0)
}

const pattern: Compile = (argument) => {
  if (argument.type !== BsonType.string) throw mismatch('pattern', 'a string')
  const expression = compilePattern(argument.asString(), '')
  return (value) => value.type !== BsonType.string || expression.test(value.asString())
}

const uniqueItems: Compile = (argument) => {
  if (argument.type !== BsonType.bool) throw mismatch('uniqueItems', 'a boolean')
  if (!argument.asBool()) return () => true
  return (value) => {
    if (value.type !== BsonType.array) return true
    const sorted = elementsOf(value).sort((a, b) => compareValues(a, b))
    return sorted.every((element, index) => index === 0 || compareValues(sorted[index - 1], element) !== 0)
  }
}

const anything: Compile = () => () => true

const keywords: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ['additionalItems', anything],
  ['additionalProperties', additionalProperties],
  [
    'allOf',
    (argument, _schema, compile) =>
      (
        (all) => (value) =>
          all.every((test) => test(value))
      )(schemas('allOf', argument, compile)),
  ],
  [
    'anyOf',
    (argument, _schema, compile) =>
      (
        (any) => (value) =>
          any.some((test) => test(value))
      )(schemas('anyOf', argument, compile)),
  ],
  [
    'oneOf',
    (argument, _schema, compile) =>
      (
        (one) => (value) =>
          one.filter((test) => test(value)).length === 1
      )(schemas('oneOf', argument, compile)),
  ],
  [
    'not',
    (argument, _schema, compile) => {
      if (argument.type !== BsonType.object) throw mismatch('not', `an object, but found an element of type ${typeName(argument.type)}`)
      const test = compile(argument)
      return (value) => !test(value)
    },
  ],
  ['bsonType', typesOf('bsonType')],
  ['type', typesOf('type')],
  ['dependencies', dependencies],
  ['description', anything],
  ['title', anything],
  ['enum', enumOf],
  ['exclusiveMaximum', exclusive('exclusiveMaximum', 'maximum')],
  ['exclusiveMinimum', exclusive('exclusiveMinimum', 'minimum')],
  ['items', items],
  ['maximum', limit('maximum', 'exclusiveMaximum', -1)],
  ['minimum', limit('minimum', 'exclusiveMinimum', 1)],
  ['maxItems', sized('maxItems', BsonType.array, arrayLength, atMost)],
  ['minItems', sized('minItems', BsonType.array, arrayLength, atLeast)],
  ['maxLength', sized('maxLength', BsonType.string, codePoints, atMost)],
  ['minLength', sized('minLength', BsonType.string, codePoints, atLeast)],
  ['maxProperties', sized('maxProperties', BsonType.object, fieldCount, atMost)],
  ['minProperties', sized('minProperties', BsonType.object, fieldCount, atLeast)],
  ['multipleOf', multipleOf],
  ['pattern', pattern],
  ['patternProperties', patternProperties],
  ['properties', properties],
  ['required', required],
  ['uniqueItems', uniqueItems],
])

const refused = new Set(['$ref', '$schema', 'default', 'definitions', 'format', 'id'])

/**
 * @throws CommandError FailedToParse (9) for an unknown keyword, TypeMismatch (14) for an argument of the wrong type
 */
export function compileJsonSchema(schema: RawValue, collation?: StringComparator): SchemaTest {
  const tests: SchemaTest[] = []
  for (const it = new FieldIterator(schema.bytes, schema.start); it.next();) {
    const name = it.name()
    const keyword = keywords.get(name)
    if (keyword === undefined)
      throw new CommandError(
        'FailedToParse',
        refused.has(name) ? `$jsonSchema keyword '${name}' is not currently supported` : `Unknown $jsonSchema keyword: ${name}`,
      )
    tests.push(keyword(it.value(), schema, (inner) => compileJsonSchema(inner, collation), collation))
  }
  if (sibling(schema, 'type') !== undefined && sibling(schema, 'bsonType') !== undefined)
    throw new CommandError('FailedToParse', "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
  return (value) => tests.every((test) => test(value))
}
