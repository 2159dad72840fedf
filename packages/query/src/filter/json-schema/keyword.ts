import { BsonType, CommandError, FieldIterator, findField, typeName, type RawValue } from '@shardlab/bson'
import { nestedField } from '../../aggregation/expressions/field-path.js'

export type SchemaTest = (value: RawValue) => boolean

export interface KeywordCall {
  readonly name: string
  readonly argument: RawValue
  /** Another keyword of the same schema. */
  readonly sibling: (name: string) => RawValue | undefined
  readonly compile: (schema: RawValue) => SchemaTest
}

/**
 * Checks the argument and returns the test; null: the keyword by itself restricts nothing.
 * @throws CommandError FailedToParse (9), TypeMismatch (14)
 */
export type Keyword = (call: KeywordCall) => SchemaTest | null

export type Keywords = readonly (readonly [name: string, keyword: Keyword])[]

export const quoted = (keyword: string) => `$jsonSchema keyword '${keyword}'`

export function mismatch(keyword: string, wanted: string): CommandError {
  return new CommandError('TypeMismatch', `${quoted(keyword)} must be ${wanted}`)
}

export function unparsable(keyword: string, why: string): CommandError {
  return new CommandError('FailedToParse', `${quoted(keyword)} ${why}`)
}

/** @throws CommandError TypeMismatch (14) unless it is an object */
export function fieldsOfObject(keyword: string, value: RawValue): [string, RawValue][] {
  if (value.type !== BsonType.object) throw mismatch(keyword, 'an object')
  const fields: [string, RawValue][] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields.push([it.name(), it.value()])
  return fields
}

/** @throws CommandError TypeMismatch (14) unless it is an array */
export function checkArray(keyword: string, value: RawValue): void {
  if (value.type !== BsonType.array)
    throw mismatch(keyword, `an array, but found an element of type ${typeName(value.type)}`)
}

/** As in filters, a dot in the name leads into embedded documents. */
export function propertyReader(name: string): (object: RawValue) => RawValue | undefined {
  if (!name.includes('.')) return (object) => findField(object.bytes, name, object.start)
  const parts = name.split('.')
  return (object) => nestedField(object, parts)
}
