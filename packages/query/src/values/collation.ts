/**
 * Collations: how strings compare. Manual: reference/collation. Server: `CollationSpec`, `collator_factory_icu.cpp`.
 * The comparison itself is the platform's ICU, through `Intl.Collator`.
 */
import { BsonType, CommandError, DocumentWriter, FieldIterator, typeName, type RawValue, type StringComparator } from '@shardlab/bson'

/** A collation other than the simple one. */
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

/** What stands for ICU's version in stored specifications. */
const icuVersion = '57.1'

/**
 * @param specification `{ locale, strength?, caseLevel?, caseFirst?, numericOrdering?, alternate?, maxVariable?, normalization?, backwards? }`
 * @returns null for `{}` and the simple collation, under which strings compare by bytes
 * @throws CommandError 40415 IDLUnknownField, 40414 missing locale, 14 TypeMismatch, 2 BadValue
 */
export function compileCollation(specification: Uint8Array): Collation | null {
  const fields = parse(specification)
  if (fields === null) return null
  return { compare: comparator(fields), document: documentOf(fields) }
}

function parse(specification: Uint8Array): CollationFields | null {
  const fields: CollationFields = {
    locale: '',
    caseLevel: false,
    caseFirst: 'off',
    strength: 3,
    numericOrdering: false,
    alternate: 'non-ignorable',
    maxVariable: 'punct',
    normalization: false,
    backwards: false,
  }
  let empty = true
  let named = false
  for (const it = new FieldIterator(specification); it.next();) {
    empty = false
    const name = it.name()
    const value = it.value()
    switch (name) {
      case 'locale':
        fields.locale = text(name, value)
        named = true
        break
      case 'caseFirst':
      case 'alternate':
      case 'maxVariable':
        fields[name] = oneOf(name, text(name, value))
        break
      case 'strength':
        if (!value.isNumber()) throw wrongType(name, value)
        fields.strength = value.asNumber()
        if (![1, 2, 3, 4, 5].includes(fields.strength))
          throw new CommandError('BadValue', `Enumeration value '${value.asNumber()}' for field 'collation.strength' is not a valid value.`)
        break
      case 'caseLevel':
      case 'numericOrdering':
      case 'normalization':
      case 'backwards':
        if (value.type !== BsonType.bool) throw wrongType(name, value)
        fields[name] = value.asBool()
        break
      case 'version':
        break
      default:
        throw new CommandError(40415, `BSON field 'collation.${name}' is an unknown field.`)
    }
  }
  if (empty) return null
  if (!named) throw new CommandError(40414, "BSON field 'collation.locale' is missing but a required field")
  if (fields.locale === 'simple') {
    return null
  }
  checkLocale(fields.locale)
  return fields
}

function text(name: string, value: RawValue): string {
  if (value.type !== BsonType.string) throw wrongType(name, value)
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

function wrongType(name: string, value: RawValue): CommandError {
  return new CommandError('TypeMismatch', `BSON field 'collation.${name}' is the wrong type '${typeName(value.type)}'`)
}

function checkLocale(locale: string): void {
  let supported = false
  try {
    supported = Intl.Collator.supportedLocalesOf([tagOf(locale)]).length > 0
  } catch {
    supported = false
  }
  if (!supported) throw new CommandError('BadValue', `Field 'locale' is invalid in: { locale: "${locale}" }`)
}

/** ICU's names as BCP 47 tags: `de_DE@collation=phonebook` is `de-DE-u-co-phonebk`. */
function tagOf(locale: string): string {
  const [name, keywords] = locale.split('@')
  const tag = name!.replaceAll('_', '-')
  const wanted = /collation=([a-z0-9]+)/i.exec(keywords ?? '')?.[1]
  return wanted === undefined ? tag : `${tag}-u-co-${collationTypes[wanted] ?? wanted}`
}

const collationTypes: Readonly<Record<string, string>> = { phonebook: 'phonebk', traditional: 'trad', dictionary: 'dict' }

function comparator(fields: CollationFields): StringComparator {
  const collator = new Intl.Collator(tagOf(fields.locale), {
    sensitivity: fields.strength === 1 ? (fields.caseLevel ? 'case' : 'base') : fields.strength === 2 ? 'accent' : 'variant',
    numeric: fields.numericOrdering,
    ignorePunctuation: fields.alternate === 'shifted',
    ...(fields.caseFirst === 'off' ? {} : { caseFirst: fields.caseFirst as 'upper' | 'lower' }),
  })
  const compare = collator.compare
  if (fields.strength < 5) return compare
  return (a, b) => compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
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
