/** In the order of the server's parser. */
import { BsonType, compareValues, DocumentWriter, elementsOf, findField, typeName, type RawValue } from '@shardlab/bson'
import { compilePattern, type Pattern } from '@shardlab/query'
import { numberTypes, startDetails, wrapped, writeStrings, writeValues } from './details-writer.js'
import {
  fieldsOfValue,
  satisfies,
  writeAnnotations,
  type KeywordCall,
  type KeywordDetails,
  type Keywords,
} from './keyword-call.js'

/** A schema with this keyword only. */
function alone(name: string, { argument, schema }: KeywordCall): Uint8Array {
  const writer = new DocumentWriter(64).value(name, argument)
  const exclusive = `exclusive${name[0]!.toUpperCase()}${name.slice(1)}`
  const flag = findField(schema.bytes, exclusive, schema.start)
  if ((name === 'minimum' || name === 'maximum') && flag?.isTruthy() === true) writer.bool(exclusive, true)
  return writer.finish()
}

function asSchema(document: Uint8Array): RawValue {
  return findField(new DocumentWriter(document.length + 16).document('s', document).finish(), 's')!
}

/** A keyword that applies to some types and has a single entry. */
function simple(
  name: string,
  types: readonly number[],
  reason: string,
  rest?: (writer: DocumentWriter, call: KeywordCall) => void,
): Keywords[number] {
  return [
    name,
    (call) => {
      const { value, context } = call
      if (!types.includes(value.type)) return []
      const specifiedAs = alone(name, call)
      if (satisfies(asSchema(specifiedAs), value)) return []
      const writer = startDetails(context, name, specifiedAs).string('reason', reason)
      if (!context.truncate) writer.value('consideredValue', value)
      rest?.(writer, call)
      return [writer.finish()]
    },
  ]
}

const strings = [BsonType.string]
const arrays = [BsonType.array]
const lengthReason = 'specified string length was not satisfied'
const itemCountReason = 'array did not match specified length'
const itemCount = (writer: DocumentWriter, { value }: KeywordCall) =>
  void writer.int32('numberOfItems', elementsOf(value).length)

export const scalarKeywords: Keywords = [
  simple('pattern', strings, 'regular expression did not match'),
  simple('maxLength', strings, lengthReason),
  simple('minLength', strings, lengthReason),
  simple('multipleOf', numberTypes, 'considered value is not a multiple of the specified value'),
  simple('maximum', numberTypes, 'comparison failed'),
  simple('minimum', numberTypes, 'comparison failed'),
]

function failingItem(
  operatorName: string,
  reason: string,
  from: number,
  { argument: schema, value, failures }: KeywordCall,
): Uint8Array[] {
  const items = elementsOf(value)
  const index = items.findIndex((item, i) => i >= from && !satisfies(schema, item))
  if (index < 0) return []
  const writer = writeAnnotations(new DocumentWriter(256).string('operatorName', operatorName), schema).string(
    'reason',
    reason,
  )
  return [writer.integer('itemIndex', index).documents('details', failures(schema, items[index]!)).finish()]
}

const items: KeywordDetails = (call) => {
  const { argument, value } = call
  if (value.type !== BsonType.array) return []
  if (argument.type === BsonType.object)
    return failingItem('items', 'At least one item did not match the sub-schema', 0, call)
  const values = elementsOf(value)
  const failures: Uint8Array[] = []
  elementsOf(argument).forEach((schema, index) => {
    const item = values[index]
    if (item === undefined || satisfies(schema, item)) return
    failures.push(
      new DocumentWriter(256).int64('itemIndex', index).documents('details', call.failures(schema, item)).finish(),
    )
  })
  return failures.length === 0
    ? []
    : [new DocumentWriter(256).string('operatorName', 'items').documents('details', failures).finish()]
}

const additionalItems: KeywordDetails = (call) => {
  const { argument, schema, value, context } = call
  const fixed = findField(schema.bytes, 'items', schema.start)
  if (value.type !== BsonType.array || fixed?.type !== BsonType.array) return []
  const from = elementsOf(fixed).length
  if (argument.type === BsonType.object)
    return failingItem('additionalItems', 'At least one additional item did not match the sub-schema', from, call)
  const rest = elementsOf(value).slice(from)
  if (argument.isTruthy() || rest.length === 0) return []
  const writer = startDetails(context, 'additionalItems', wrapped('additionalItems', argument)).string(
    'reason',
    'found additional items',
  )
  return [writeValues(writer, 'additionalItems', rest).finish()]
}

function duplicateIn(value: RawValue): RawValue | undefined {
  const elements = elementsOf(value)
  return elements.find((element, i) => elements.some((other, j) => j < i && compareValues(element, other) === 0))
}

export const arrayKeywords: Keywords = [
  simple('minItems', arrays, itemCountReason, itemCount),
  simple('maxItems', arrays, itemCountReason, itemCount),
  simple('uniqueItems', arrays, 'found a duplicate item', (writer, { value }) => {
    const duplicate = duplicateIn(value)
    if (duplicate !== undefined) writer.value('duplicatedValue', duplicate)
  }),
  ['items', items],
  ['additionalItems', additionalItems],
]

const properties: KeywordDetails = ({ argument, value, failures: failuresOf }) => {
  if (value.type !== BsonType.object) return []
  const failures: Uint8Array[] = []
  for (const [propertyName, schema] of fieldsOfValue(argument)) {
    const field = findField(value.bytes, propertyName, value.start)
    if (field === undefined || satisfies(schema, field)) continue
    const details = failuresOf(schema, field)
    if (details.length === 0) continue
    const writer = new DocumentWriter(256).string('propertyName', propertyName)
    failures.push(writeAnnotations(writer, schema).documents('details', details).finish())
  }
  if (failures.length === 0) return []
  return [
    new DocumentWriter(256).string('operatorName', 'properties').documents('propertiesNotSatisfied', failures).finish(),
  ]
}

function patternsOf(schema: RawValue): { source: string; pattern: Pattern; schema: RawValue }[] {
  const patterns = findField(schema.bytes, 'patternProperties', schema.start)
  if (patterns === undefined) return []
  return fieldsOfValue(patterns).map(([source, each]) => ({
    source,
    pattern: compilePattern(source, ''),
    schema: each,
  }))
}

const additionalProperties: KeywordDetails = ({ argument, schema, value, failures }) => {
  if (value.type !== BsonType.object) return []
  const named = findField(schema.bytes, 'properties', schema.start)
  const known = new Set(named === undefined ? [] : fieldsOfValue(named).map(([name]) => name))
  const patterns = patternsOf(schema)
  const additional = fieldsOfValue(value).filter(
    ([name]) => !known.has(name) && !patterns.some(({ pattern }) => pattern.test(name)),
  )
  if (argument.type === BsonType.object) {
    const failing = additional.find(([, field]) => !satisfies(argument, field))
    if (failing === undefined) return []
    const writer = writeAnnotations(new DocumentWriter(256).string('operatorName', 'additionalProperties'), argument)
    return [
      writer
        .string('reason', 'at least one additional property did not match the subschema')
        .string('failingProperty', failing[0])
        .documents('details', failures(argument, failing[1]))
        .finish(),
    ]
  }
  if (argument.isTruthy() || additional.length === 0) return []
  // Like the server, included even in a truncated error.
  const writer = new DocumentWriter(256)
    .string('operatorName', 'additionalProperties')
    .document('specifiedAs', wrapped('additionalProperties', argument))
  return [
    writeStrings(
      writer,
      'additionalProperties',
      additional.map(([name]) => name),
    ).finish(),
  ]
}

const patternProperties: KeywordDetails = ({ schema, value, failures: failuresOf }) => {
  if (value.type !== BsonType.object) return []
  const failures: Uint8Array[] = []
  for (const { source, pattern, schema: each } of patternsOf(schema)) {
    const failing = fieldsOfValue(value).find(([name, field]) => pattern.test(name) && !satisfies(each, field))
    if (failing === undefined) continue
    const writer = writeAnnotations(new DocumentWriter(256).string('propertyName', failing[0]), each)
    failures.push(writer.string('regexMatched', source).documents('details', failuresOf(each, failing[1])).finish())
  }
  if (failures.length === 0) return []
  return [new DocumentWriter(256).string('operatorName', 'patternProperties').documents('details', failures).finish()]
}

function missing(names: RawValue, value: RawValue): string[] {
  return elementsOf(names)
    .map((name) => name.asString())
    .filter((name) => findField(value.bytes, name, value.start) === undefined)
}

const required: KeywordDetails = ({ argument, value, context }) => {
  if (value.type !== BsonType.object) return []
  const names = missing(argument, value).sort()
  if (names.length === 0) return []
  return [
    writeStrings(startDetails(context, 'required', wrapped('required', argument)), 'missingProperties', names).finish(),
  ]
}

function propertyCount(name: 'minProperties' | 'maxProperties'): Keywords[number] {
  return [
    name,
    (call) => {
      const { value, context } = call
      const specifiedAs = alone(name, call)
      if (value.type !== BsonType.object || satisfies(asSchema(specifiedAs), value)) return []
      return [
        startDetails(context, name, specifiedAs)
          .string('reason', 'specified number of properties was not satisfied')
          .int32('numberOfProperties', fieldsOfValue(value).length)
          .finish(),
      ]
    },
  ]
}

const dependencies: KeywordDetails = ({ argument, value, failures: failuresOf }) => {
  if (value.type !== BsonType.object) return []
  const failures: Uint8Array[] = []
  for (const [property, rule] of fieldsOfValue(argument)) {
    if (findField(value.bytes, property, value.start) === undefined) continue
    const writer = new DocumentWriter(256).string('conditionalProperty', property)
    if (rule.type === BsonType.array) {
      const names = missing(rule, value)
      if (names.length > 0) failures.push(writeStrings(writer, 'missingProperties', names).finish())
    } else if (!satisfies(rule, value)) {
      failures.push(writer.documents('details', failuresOf(rule, value)).finish())
    }
  }
  if (failures.length === 0) return []
  return [
    new DocumentWriter(256).string('operatorName', 'dependencies').documents('failingDependencies', failures).finish(),
  ]
}

export const objectKeywords: Keywords = [
  ['properties', properties],
  ['additionalProperties', additionalProperties],
  ['patternProperties', patternProperties],
  ['required', required],
  propertyCount('minProperties'),
  propertyCount('maxProperties'),
  ['dependencies', dependencies],
]

/** `schemasNotSatisfied`: the failing schemas of a list, with their index. */
function failingSchemas(operatorName: string, { argument, value, failures: failuresOf }: KeywordCall): Uint8Array {
  const failures: Uint8Array[] = []
  elementsOf(argument).forEach((schema, index) => {
    if (satisfies(schema, value)) return
    const writer = writeAnnotations(new DocumentWriter(256).integer('index', index), schema)
    failures.push(writer.documents('details', failuresOf(schema, value)).finish())
  })
  return new DocumentWriter(512)
    .string('operatorName', operatorName)
    .documents('schemasNotSatisfied', failures)
    .finish()
}

const allOf: KeywordDetails = (call) => {
  const { argument, value } = call
  const schemas = elementsOf(argument)
  return schemas.every((schema) => satisfies(schema, value)) ? [] : [failingSchemas('allOf', call)]
}

const anyOf: KeywordDetails = (call) => {
  const { argument, value } = call
  const schemas = elementsOf(argument)
  return schemas.some((schema) => satisfies(schema, value)) ? [] : [failingSchemas('anyOf', call)]
}

const oneOf: KeywordDetails = (call) => {
  const { argument, value } = call
  const schemas = elementsOf(argument)
  const matching = schemas.flatMap((schema, index) => (satisfies(schema, value) ? [index] : []))
  if (matching.length === 1) return []
  if (matching.length === 0) return [failingSchemas('oneOf', call)]
  const writer = new DocumentWriter(128)
    .string('operatorName', 'oneOf')
    .string('reason', 'more than one subschema matched')
  writer.startArray('matchingSchemaIndexes')
  matching.forEach((index, i) => writer.int32(String(i), index))
  return [writer.end().finish()]
}

const not: KeywordDetails = ({ argument, value }) =>
  satisfies(argument, value)
    ? [new DocumentWriter(64).string('operatorName', 'not').string('reason', 'child expression matched').finish()]
    : []

const everyType = Object.values(BsonType)

export const logicalKeywords: Keywords = [
  ['allOf', allOf],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  simple('enum', everyType, 'value was not found in enum'),
]

const typeReason = 'type did not match'
const consideredType = (writer: DocumentWriter, { value }: KeywordCall) =>
  void writer.string('consideredType', typeName(value.type))

export const typeKeywords: Keywords = [
  simple('type', everyType, typeReason, consideredType),
  simple('bsonType', everyType, typeReason, consideredType),
]
