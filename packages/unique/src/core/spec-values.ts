/** The values that a document has for a spec. */
import { InvalidValueError } from './errors.js'
import type { Fields } from './port.js'
import type { UniqueSpec } from './spec.js'
import { isDocument } from './values.js'

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
