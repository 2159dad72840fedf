/** The argument `settings` of setQuerySettings. Server: query_settings.idl, index_hint.cpp. */
import {
  BsonType,
  CommandError,
  FieldIterator,
  findField,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { hintSpecifications, namespaceOfHint } from '@shardlab/member'
import { formatDocument, formatField, type Language } from '@shardlab/query'
import { checkKeyPattern } from '@shardlab/storage'

/** In the order in which they are stored. */
export const settingNames = ['indexHints', 'queryFramework', 'reject', 'comment'] as const

export type Settings = ReadonlyMap<string, RawValue>

/**
 * Unknown fields are ignored, as on the server.
 * @throws CommandError 8727502 for an empty document, 14 TypeMismatch, 2 BadValue, 9 FailedToParse,
 *   40414 for a missing field, 8727500, 8727501, 9646000, 9646001
 */
export function parseSettings(document: Uint8Array, language: Language): Settings {
  const settings = new Map<string, RawValue>()
  for (const name of settingNames) {
    const value = findField(document, name)
    if (value === undefined) continue
    checks[name](value, language)
    settings.set(name, value)
  }
  if (settings.size === 0) throw new CommandError(8727502, 'settings field in setQuerySettings command cannot be empty')
  return settings
}

const path = 'setQuerySettings.settings'

const checks: Readonly<Record<(typeof settingNames)[number], (value: RawValue, language: Language) => void>> = {
  indexHints: checkIndexHints,
  queryFramework(value) {
    checkType(`${path}.queryFramework`, value, ['string'])
    const framework = value.asString()
    if (framework !== 'classic' && framework !== 'sbe')
      throw new CommandError(
        'BadValue',
        `Invalid value for 'queryFramework': expected classic or sbe, but got ${framework}`,
      )
  },
  reject: (value) => checkType(`${path}.reject`, value, ['bool']),
  comment() {},
}

function checkType(name: string, value: RawValue, types: readonly string[]): void {
  const type = typeName(value.type)
  if (types.includes(type)) return
  const expected = types.length === 1 ? `type '${types[0]}'` : `types '[${types.join(', ')}]'`
  throw new CommandError('TypeMismatch', `BSON field '${name}' is the wrong type '${type}', expected ${expected}`)
}

function checkIndexHints(hints: RawValue, language: Language): void {
  const name = `${path}.indexHints`
  checkType(name, hints, ['array', 'object'])
  if (hints.type === BsonType.object) return checkSpecification(name, hints.slice(), language)
  for (const it = new FieldIterator(hints.bytes, hints.start); it.next();) {
    const element = it.value()
    checkType(`${name}.${it.name()}`, element, ['object'])
    checkSpecification(name, element.slice(), language)
  }
}

function checkSpecification(name: string, specification: Uint8Array, language: Language): void {
  const ns = required(name, specification, 'ns')
  checkType(`${name}.ns`, ns, ['object'])
  const allowed = required(name, specification, 'allowedIndexes')
  checkType(`${name}.allowedIndexes`, allowed, ['array'])
  for (const [part, code] of [
    ['db', 8727500],
    ['coll', 8727501],
  ] as const) {
    const value = findField(ns.bytes, part, ns.start)
    if (value === undefined) throw new CommandError(code, `invalid index hint: 'ns.${part}' field is missing`)
    checkType(`${name}.ns.${part}`, value, ['string'])
  }
  for (const it = new FieldIterator(allowed.bytes, allowed.start); it.next();) checkHint(it.value(), language)
}

/** A null counts as missing. */
function required(name: string, document: Uint8Array, field: string): RawValue {
  const value = findField(document, field)
  if (value === undefined || value.type === BsonType.null)
    throw new CommandError(40414, `BSON field '${name}.${field}' is missing but a required field`)
  return value
}

function checkHint(hint: RawValue, language: Language): void {
  if (hint.type === BsonType.string) return
  if (hint.type !== BsonType.object) throw new CommandError('FailedToParse', 'Hint must be a string or an object')
  const natural = findField(hint.bytes, '$natural', hint.start)
  if (natural !== undefined) {
    if (!natural.isNumber() || Math.abs(natural.asNumber()) !== 1)
      throw new CommandError(
        'BadValue',
        `$natural hint may only accept 1 or -1, not ${formatField('$natural', natural)}`,
      )
    return
  }
  if (isEmptyDocument(hint.bytes, hint.start)) throw new CommandError(9646000, "key pattern index can't be empty")
  checkKeyPattern(hint.slice(), language, (_code, message) => {
    throw new CommandError(9646001, `invalid index key pattern hint :: caused by :: ${message}`)
  })
}

/**
 * Without what has no effect.
 * @throws CommandError 7746604 when nothing remains, 7746608
 */
export function simplified(settings: Settings): Settings {
  const kept = new Map(settings)
  if (kept.get('reject')?.isTruthy() === false) kept.delete('reject')
  const hints = kept.get('indexHints')
  const specifications = hints === undefined ? [] : hintSpecifications(hints)
  if (hints !== undefined && specifications.every(isWithoutIndexes)) kept.delete('indexHints')
  if (kept.size === 0 || (kept.size === 1 && kept.has('comment')))
    throw new CommandError(7746604, 'the resulting settings cannot be empty or contain only default values')
  const seen = new Set<string>()
  for (const specification of specifications) {
    const ns = namespaceOfHint(specification)
    if (seen.has(ns))
      throw new CommandError(7746608, `Collection '${formatDocument(specification)}' has already index hints specified`)
    seen.add(ns)
  }
  return kept
}

export function isWithoutIndexes(specification: Uint8Array): boolean {
  const allowed = findField(specification, 'allowedIndexes')!
  return isEmptyDocument(allowed.bytes, allowed.start)
}
