import { InvalidValueError } from '../errors.js'
import type { Fields } from '../port.js'
import type { UniqueSpec } from './spec.js'
import { isDocument } from '../values.js'

/**
 * Unmodified values, undefined for missing ones. @throws InvalidValueError for a path through an
 * array
 */
export function rawValuesOf(spec: UniqueSpec, document: Fields): unknown[] {
  return spec.fields.map((field) => valueAt(document, field))
}

/**
 * null for a missing value; null instead of the array: the document needs no reservation.
 * @throws InvalidValueError for arrays, regular expressions and values that are not BSON
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
    throw new InvalidValueError(
      `the value of ${field} is an array, whose elements a unique index would compare one by one: use a single value`,
    )
  const type = typeof value === 'object' && value !== null && '_bsontype' in value ? value._bsontype : null
  if (value instanceof RegExp || type === 'BSONRegExp')
    throw new InvalidValueError(
      `the value of ${field} is a regular expression, which no filter can look up: use a string`,
    )
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new InvalidValueError(
      `the value of ${field} is a ${typeof value}, which is not a BSON value: use a value that BSON can store`,
    )
  return value
}

function valueAt(document: Fields, path: string): unknown {
  let value: unknown = document
  for (const part of path.split('.')) {
    if (Array.isArray(value))
      throw new InvalidValueError(
        `the path ${path} leads through an array, so it has no single value: use a field outside of arrays`,
      )
    if (!isDocument(value)) return undefined
    value = value[part]
  }
  return value
}

/** Matches only documents with exactly these raw values, as far as the server compares exactly. */
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
