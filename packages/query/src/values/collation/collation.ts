/**
 * Manual: reference/collation. Server: `Collation` of db/basic_types.idl,
 * `collator_factory_icu.cpp`.
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  typeName,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { truncateToInt64 } from '../arithmetic.js'
import { collationLocale, nearestLocale } from './locales.js'
import { collator } from './collator.js'
import { formatDocument } from '../format.js'

/** The simple collation has none. */
export interface Collation {
  readonly compare: StringComparator
  /** All fields with their values, as the server stores and prints it. */
  readonly document: Uint8Array
}

interface CollationFields {
  locale: string
  caseLevel: boolean
  caseFirst: string
  strength: number
  numericOrdering: boolean
  alternate: string
  maxVariable: string
  normalization: boolean
  backwards: boolean
}

/** As in specifications that a server stores. */
const icuVersion = '57.1'

/**
 * @param specification `{ locale, strength?, caseLevel?, caseFirst?, numericOrdering?, alternate?,
 *   maxVariable?, normalization?, backwards? }`
 * @returns null for `{}` and the simple collation, which compare strings by bytes
 * @throws CommandError 40415 IDLUnknownField, 40414 missing locale, 14 TypeMismatch, 2 BadValue,
 *   51024 strength out of range, 9 FailedToParse, 161 IncompatibleCollationVersion
 */
export function compileCollation(specification: Uint8Array): Collation | null {
  const fields = parse(specification)
  if (fields === null) return null
  const locale = collationLocale(fields.locale)
  if (locale === null) throw unknownLocale(fields.locale, specification)
  return { compare: collator({ ...fields, locale }), document: documentOf(fields) }
}

function localeDefaults(locale: string): Partial<CollationFields> {
  const name = locale.split('@')[0]
  if (name === 'da' || name === 'mt') return { caseFirst: 'upper' }
  if (name === 'th') return { alternate: 'shifted' }
  return name === 'fr_CA' ? { backwards: true } : {}
}

function parse(specification: Uint8Array): CollationFields | null {
  const given: Partial<CollationFields> = {}
  let count = 0
  for (const it = new FieldIterator(specification); it.next(); count++)
    parseField(given, it.name(), it.value(), specification)
  if (count === 0) return null
  const { locale } = given
  if (locale === undefined)
    throw new CommandError(40414, "BSON field 'collation.locale' is missing but a required field")
  if (locale === 'simple') {
    if (count > 1)
      throw new CommandError(
        'FailedToParse',
        `If locale=simple, no other fields should be present in: ${formatDocument(specification)}`,
      )
    return null
  }
  const fields = {
    locale,
    caseLevel: false,
    caseFirst: 'off',
    strength: 3,
    numericOrdering: false,
    alternate: 'non-ignorable',
    maxVariable: 'punct',
    normalization: false,
    backwards: false,
    ...localeDefaults(locale),
    ...given,
  }
  checkCombinations(fields)
  return fields
}

function parseField(fields: Partial<CollationFields>, name: string, value: RawValue, specification: Uint8Array): void {
  switch (name) {
    case 'locale':
      fields.locale = text(name, value)
      return
    case 'caseFirst':
    case 'alternate':
    case 'maxVariable':
      fields[name] = oneOf(name, text(name, value))
      return
    case 'strength':
      fields.strength = strength(value)
      return
    case 'caseLevel':
    case 'numericOrdering':
    case 'normalization':
      if (value.type !== BsonType.bool) throw wrongType(name, value, "expected type 'bool'")
      fields[name] = value.asBool()
      return
    case 'backwards':
      if (value.type !== BsonType.bool)
        throw new CommandError(
          'TypeMismatch',
          `Field 'backwards' should be a boolean value, but found: ${typeName(value.type)}`,
        )
      fields.backwards = value.asBool()
      return
    case 'version':
      if (text(name, value) !== icuVersion)
        throw new CommandError(
          'IncompatibleCollationVersion',
          `Requested collation version ${value.asString()} but the only available collator version was ${icuVersion}. Requested collation spec: ${formatDocument(specification)}`,
        )
      return
    default:
      throw new CommandError(40415, `BSON field 'collation.${name}' is an unknown field.`)
  }
}

function text(name: string, value: RawValue): string {
  if (value.type !== BsonType.string) throw wrongType(name, value, "expected type 'string'")
  return value.asString()
}

const choices: Readonly<Record<string, readonly string[]>> = {
  caseFirst: ['upper', 'lower', 'off'],
  alternate: ['non-ignorable', 'shifted'],
  maxVariable: ['punct', 'space'],
}

function oneOf(name: string, value: string): string {
  if (choices[name]!.includes(value)) return value
  throw new CommandError('BadValue', `Enumeration value '${value}' for field 'collation.${name}' is not a valid value.`)
}

function strength(value: RawValue): number {
  if (!value.isNumber()) throw wrongType('strength', value, "expected types '[long, int, decimal, double]'")
  const level = Number(truncateToInt64(value) ?? 0n)
  const outside = level < 0 ? '>= 0' : level > 5 ? '<= 5' : null
  if (outside !== null)
    throw new CommandError(51024, `BSON field 'strength' value must be ${outside}, actual value '${level}'`)
  if (level === 0)
    throw new CommandError('FailedToParse', `Field 'strength' must be an integer 1 through 5. Got: ${level}`)
  return level
}

function wrongType(name: string, value: RawValue, expected: string): CommandError {
  return new CommandError(
    'TypeMismatch',
    `BSON field 'collation.${name}' is the wrong type '${typeName(value.type)}', ${expected}`,
  )
}

function unknownLocale(locale: string, specification: Uint8Array): CommandError {
  const where = formatDocument(specification)
  if (locale === '') return new CommandError('BadValue', `Field 'locale' cannot be the empty string in: ${where}`)
  if (locale.includes('\0'))
    return new CommandError('BadValue', `Field 'locale' cannot contain null byte. Collation spec: ${where}`)
  const nearest = nearestLocale(locale)
  return new CommandError(
    'BadValue',
    `Field 'locale' is invalid in: ${where}${nearest === null ? '' : `. Did you mean '${nearest}'?`}`,
  )
}

/** Refuses options without effect. */
function checkCombinations(fields: CollationFields): void {
  const where = () => formatDocument(documentOf(fields))
  if (fields.backwards && fields.strength === 1)
    throw new CommandError('BadValue', `'backwards' is invalid with 'strength' of 1 in: ${where()}`)
  if (fields.caseFirst !== 'off' && !fields.caseLevel && fields.strength < 3)
    throw new CommandError(
      'BadValue',
      `'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: ${where()}`,
    )
}

function documentOf(fields: CollationFields): Uint8Array {
  return new DocumentWriter(192)
    .string('locale', fields.locale)
    .bool('caseLevel', fields.caseLevel)
    .string('caseFirst', fields.caseFirst)
    .int32('strength', fields.strength)
    .bool('numericOrdering', fields.numericOrdering)
    .string('alternate', fields.alternate)
    .string('maxVariable', fields.maxVariable)
    .bool('normalization', fields.normalization)
    .bool('backwards', fields.backwards)
    .string('version', icuVersion)
    .finish()
}
