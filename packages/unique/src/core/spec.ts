/** Which fields are unique, and what their values are. */
import { InvalidValueError, RefusedOperationError } from './errors.js'
import type { Collation, Fields } from './port.js'
import { isDocument } from './values.js'

/** One field or combination of fields whose values have to be unique. */
export interface UniqueSpec {
  /** The fields, joined by commas. */
  readonly name: string
  /** Paths, dotted for fields of embedded documents. */
  readonly fields: readonly string[]
  readonly missing: 'reserve' | 'skip'
  readonly normalize: ((value: unknown, field: string) => unknown) | null
  readonly collation: Collation | null
}

/** What a spec may be given as. */
export interface UniqueSpecOptions {
  readonly fields: string | readonly string[]
  readonly missing?: 'reserve' | 'skip'
  /** From a field's value to the value that has to be unique, `(email) => email.toLowerCase()`. Never called for null. */
  normalize?(value: unknown, field: string): unknown
  readonly collation?: Collation
}

/** Fields that proxy documents have for themselves. */
const ownFields: ReadonlySet<string> = new Set(['_id', 'owner', 'state', 'attempt', 'expiresAt'])

/** @throws RefusedOperationError for fields that no proxy document can carry */
export function parseSpec(given: string | UniqueSpecOptions): UniqueSpec {
  const options = typeof given === 'string' ? { fields: given } : given
  const fields = typeof options.fields === 'string' ? [options.fields] : [...options.fields]
  if (fields.length === 0) throw new RefusedOperationError('a unique spec needs at least one field')
  for (const field of fields) {
    if (field === '_id') throw new RefusedOperationError('_id is unique by itself: leave it out of the unique fields')
    if (ownFields.has(field.split('.')[0]!)) {
      throw new RefusedOperationError(
        `the field ${field} has a name that proxy documents use themselves: it cannot be unique`,
      )
    }
    if (field.split('.').some((part) => part === '' || part.startsWith('$'))) {
      throw new RefusedOperationError(`'${field}' is not the path of a field`)
    }
  }
  if (fields.some((field, i) => fields.some((other, j) => i !== j && overlaps(field, other)))) {
    throw new RefusedOperationError(`the fields ${fields.join(', ')} overlap: name each once`)
  }
  return {
    name: fields.join(','),
    fields,
    missing: options.missing ?? 'reserve',
    normalize: options.normalize === undefined ? null : (value, field) => options.normalize!(value, field),
    collation: options.collation ?? null,
  }
}

/** Is one path the other one, or inside of it? */
export function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

/** The values of a spec in a document as they are: undefined for missing. @throws InvalidValueError for a path through an array */
export function rawValuesOf(spec: UniqueSpec, document: Fields): unknown[] {
  return spec.fields.map((field) => valueAt(document, field))
}

/**
 * The values that have to be reserved, null for missing ones; null when the document needs no reservation by this spec.
 * @throws InvalidValueError for arrays, regular expressions and undefined
 */
export function reservedValuesOf(spec: UniqueSpec, document: Fields): unknown[] | null {
  const raw = rawValuesOf(spec, document)
  if (spec.missing === 'skip' && raw.every((value) => value === undefined)) return null
  return raw.map((value, i) => {
    if (value === undefined || value === null) return null
    const field = spec.fields[i]!
    const normalized = spec.normalize === null ? value : spec.normalize(checked(value, field), field)
    return normalized === undefined || normalized === null ? null : checked(normalized, field)
  })
}

function checked(value: unknown, field: string): unknown {
  if (Array.isArray(value))
    throw new InvalidValueError(`${field} is an array: a unique index would keep its elements, not the array`)
  const type = typeof value === 'object' && value !== null && '_bsontype' in value ? value._bsontype : null
  if (value instanceof RegExp || type === 'BSONRegExp')
    throw new InvalidValueError(`${field} is a regular expression, which no filter can look up`)
  if (typeof value === 'function' || typeof value === 'symbol') throw new InvalidValueError(`${field} is no BSON value`)
  return value
}

function valueAt(document: Fields, path: string): unknown {
  let value: unknown = document
  for (const part of path.split('.')) {
    if (Array.isArray(value)) throw new InvalidValueError(`${path} leads through an array: its value would not be one`)
    if (!isDocument(value)) return undefined
    value = value[part]
  }
  return value
}

/** Sets the value at a dotted path, making the documents on the way. */
export function setAt(document: Fields, path: string, value: unknown): void {
  const parts = path.split('.')
  const last = parts.pop()!
  let at = document
  for (const part of parts) at = (at[part] ??= {}) as Fields
  at[last] = value
}

/** A filter that only documents with exactly these raw values match, as far as the server's comparison is exact. */
export function guardOf(specs: readonly UniqueSpec[], document: Fields): Fields {
  const guard: Fields = {}
  for (const spec of specs) {
    rawValuesOf(spec, document).forEach((value, i) => {
      guard[spec.fields[i]!] =
        value === undefined ? { $exists: false } : value === null ? { $eq: null, $exists: true } : { $eq: value }
    })
  }
  return guard
}
