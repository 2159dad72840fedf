/** Server: storage_validation.cpp. */
import { BsonType, CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { newestLanguage } from '../language/language.js'

const dbRefFields: ReadonlySet<string> = new Set(['$ref', '$id', '$db'])
const dollarSign = 0x24

/**
 * Checks a field that an update writes, and the fields in it.
 * @param names path of the field
 * @throws CommandError 52 DollarPrefixedFieldName; until 3.4, 57 DottedFieldName
 */
export function checkStoredField(
  names: readonly string[],
  value: RawValue,
  isInsert: boolean,
  { dollarFieldsCanBeStored = true, language = newestLanguage }: EvaluationContext,
): void {
  if (dollarFieldsCanBeStored) {
    if (!isInsert && names.length === 1) refuseDollar(names, hint)
    return
  }
  const dotsAllowed = language.has('form', 'dottedNames')
  checkName(names, dotsAllowed)
  if (value.type === BsonType.object || value.type === BsonType.array)
    checkNames(value.bytes, value.start, names, dotsAllowed)
}

/** Checks a document that an update writes as a whole. @throws CommandError 52; until 3.4, 57 */
export function checkStoredDocument(
  document: Uint8Array,
  isInsert: boolean,
  { dollarFieldsCanBeStored = true, language = newestLanguage }: EvaluationContext,
): void {
  if (!dollarFieldsCanBeStored) checkNames(document, 0, [], language.has('form', 'dottedNames'))
  else if (!isInsert) for (const it = new FieldIterator(document); it.next();) refuseDollar([it.name()], hint)
}

/** At any depth. */
function checkNames(bytes: Uint8Array, start: number, path: readonly string[], dotsAllowed: boolean): void {
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const names = [...path, it.name()]
    checkName(names, dotsAllowed)
    if (it.type === BsonType.object || it.type === BsonType.array) checkNames(bytes, it.valueStart, names, dotsAllowed)
  }
}

function checkName(names: readonly string[], dotsAllowed: boolean): void {
  refuseDollar(names, invalid)
  const name = names.at(-1)!
  if (!dotsAllowed && name.includes('.'))
    throw new CommandError('DottedFieldName', `The dotted field '${name}' in '${names.join('.')}' ${invalid}`)
}

const invalid = 'is not valid for storage.'
const hint =
  "is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith."

function refuseDollar(names: readonly string[], reason: string): void {
  const name = names.at(-1)!
  if (name.charCodeAt(0) === dollarSign && !dbRefFields.has(name))
    throw new CommandError(
      'DollarPrefixedFieldName',
      `The dollar ($) prefixed field '${name}' in '${names.join('.')}' ${reason}`,
    )
}
