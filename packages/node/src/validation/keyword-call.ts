/** Server: doc_validation_error.cpp. */
import { FieldIterator, findField, type DocumentWriter, type RawValue } from '@shardlab/bson'
import { compileJsonSchema } from '@shardlab/query'
import type { DetailsContext } from './details-writer.js'

export interface KeywordCall {
  readonly argument: RawValue
  readonly schema: RawValue
  readonly value: RawValue
  readonly context: DetailsContext
  /** The entries of all keywords of a schema that a value fails. */
  readonly failures: (schema: RawValue, value: RawValue) => Uint8Array[]
}

/** Empty: the keyword reports nothing. */
export type KeywordDetails = (call: KeywordCall) => readonly Uint8Array[]

export type Keywords = readonly (readonly [name: string, details: KeywordDetails])[]

export function writeAnnotations(writer: DocumentWriter, schema: RawValue): DocumentWriter {
  for (const name of ['title', 'description']) {
    const text = findField(schema.bytes, name, schema.start)
    if (text !== undefined) writer.value(name, text)
  }
  return writer
}

export function satisfies(schema: RawValue, value: RawValue): boolean {
  return compileJsonSchema(schema)(value)
}

export function fieldsOfValue(value: RawValue): [string, RawValue][] {
  const fields: [string, RawValue][] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields.push([it.name(), it.value()])
  return fields
}
