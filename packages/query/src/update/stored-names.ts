/** Server: storage_validation.cpp. */
import { BsonType, CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'

const dbRefFields: ReadonlySet<string> = new Set(['$ref', '$id', '$db'])
const dollarSign = 0x24

/**
 * Checks a field that an update writes, and the fields in it.
 * @param names path of the field
 * @throws CommandError 52 DollarPrefixedFieldName
 */
export function checkStoredField(
  names: readonly string[],
  value: RawValue,
  isInsert: boolean,
  { dollarFieldsCanBeStored = true }: EvaluationContext,
): void {
  if (dollarFieldsCanBeStored) {
    if (!isInsert && names.length === 1) checkName(names, hint)
    return
  }
  checkName(names, invalid)
  if (value.type === BsonType.object || value.type === BsonType.array) checkNames(value.bytes, value.start, names)
}

/** Checks a document that an update writes as a whole. @throws CommandError 52 */
export function checkStoredDocument(
  document: Uint8Array,
  isInsert: boolean,
  { dollarFieldsCanBeStored = true }: EvaluationContext,
): void {
  if (!dollarFieldsCanBeStored) checkNames(document, 0, [])
  else if (!isInsert) for (const it = new FieldIterator(document); it.next();) checkName([it.name()], hint)
}

/** At any depth. */
function checkNames(bytes: Uint8Array, start: number, path: readonly string[]): void {
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const names = [...path, it.name()]
    checkName(names, invalid)
    if (it.type === BsonType.object || it.type === BsonType.array) checkNames(bytes, it.valueStart, names)
  }
}

const invalid = 'is not valid for storage.'
const hint =
  "is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith."

function checkName(names: readonly string[], reason: string): void {
  const name = names.at(-1)!
  if (name.charCodeAt(0) === dollarSign && !dbRefFields.has(name))
    throw new CommandError(
      'DollarPrefixedFieldName',
      `The dollar ($) prefixed field '${name}' in '${names.join('.')}' ${reason}`,
    )
}
