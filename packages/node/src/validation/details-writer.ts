/** Server: doc_validation_error.cpp. */
import { BsonType, CommandError, DocumentWriter, errorCodeName, RawValue, typeName } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'

export interface DetailsContext {
  readonly evaluation: EvaluationContext
  /**
   * Omits the parts that may be as large as validator and document: `specifiedAs` and considered
   * values.
   */
  readonly truncate: boolean
}

/** Parameter internalQueryMaxDocValidationErrorConsideredValues. */
export const consideredValuesMax = 10

/** Values that an operator examined; null: the field is missing. */
export interface ConsideredValues {
  readonly values: readonly RawValue[]
  readonly truncated: boolean
}

/** Starts `{ operatorName, specifiedAs }`; the caller appends the rest. */
export function startDetails(
  context: DetailsContext,
  operatorName: string,
  specifiedAs: Uint8Array | null,
): DocumentWriter {
  const writer = new DocumentWriter(256).string('operatorName', operatorName)
  if (specifiedAs !== null && !context.truncate) writer.document('specifiedAs', specifiedAs)
  return writer
}

export function wrapped(name: string, value: RawValue): Uint8Array {
  return new DocumentWriter(64).value(name, value).finish()
}

/** `consideredValue` for one, `consideredValues` for none or several. */
export function writeConsideredValues(
  context: DetailsContext,
  writer: DocumentWriter,
  considered: ConsideredValues | null,
): void {
  if (considered === null || context.truncate) return
  const { values, truncated } = considered
  if (values.length === 1) writer.value('consideredValue', values[0]!)
  else writeValues(writer, 'consideredValues', values)
  if (truncated) writer.bool('consideredValuesTruncated', true)
}

/** `consideredType` or `consideredTypes`: distinct names, sorted. */
export function writeConsideredTypes(writer: DocumentWriter, considered: ConsideredValues | null): void {
  if (considered === null || considered.values.length === 0) return
  writeNames(
    writer,
    'consideredType',
    considered.values.map((value) => typeName(value.type)),
  )
}

/** `name` for one, `names` for several. */
export function writeNames(writer: DocumentWriter, name: string, names: readonly string[]): void {
  const sorted = [...new Set(names)].sort()
  if (sorted.length === 1) writer.string(name, sorted[0]!)
  else writeStrings(writer, `${name}s`, sorted)
}

export function writeStrings(writer: DocumentWriter, name: string, strings: readonly string[]): DocumentWriter {
  writer.startArray(name)
  strings.forEach((string, i) => writer.string(String(i), string))
  return writer.end()
}

export function writeValues(writer: DocumentWriter, name: string, values: readonly RawValue[]): DocumentWriter {
  writer.startArray(name)
  values.forEach((value, i) => writer.value(String(i), value))
  return writer.end()
}

export function writeThrown(writer: DocumentWriter, name: string, error: CommandError): DocumentWriter {
  return writer
    .startDocument(name)
    .int32('code', error.code)
    .string('codeName', errorCodeName(error.code))
    .string('errmsg', error.message)
    .end()
}

/** False if the evaluation fails. */
export function holds(work: () => boolean): boolean {
  try {
    return work()
  } catch (error) {
    if (error instanceof CommandError) return false
    throw error
  }
}

export const numberTypes: readonly number[] = [BsonType.double, BsonType.int32, BsonType.int64, BsonType.decimal128]
