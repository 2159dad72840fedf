import { RefusedOperationError } from '../errors.js'
import { checkNames, shown } from './option-checks.js'
import { overlaps, type FieldPath, type UniqueSpec, type UniqueSpecOptions } from './spec.js'

const proxyFieldNames: ReadonlySet<string> = new Set(['_id', 'owner', 'state', 'attempt', 'expiresAt', 'spec'])

/** `proxy` is read by the driver's part. */
const specOptions = ['fields', 'normalize', 'collation', 'missing', 'proxy']

/** @throws RefusedOperationError for options that are not valid */
export function parseSpec(given: FieldPath | UniqueSpecOptions): UniqueSpec {
  const options = typeof given === 'string' ? { fields: given } : checkedOptions(given)
  const fields = typeof options.fields === 'string' ? [options.fields] : [...options.fields]
  checkFields(fields)
  const { normalize } = options
  return {
    name: fields.join(','),
    fields,
    missing: options.missing ?? 'reserve',
    normalize: normalize === undefined ? null : (value, field) => normalize(value, field),
    collation: options.collation ?? null,
  }
}

function checkedOptions(given: FieldPath | UniqueSpecOptions): UniqueSpecOptions {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new RefusedOperationError(
      `an element of the option unique is ${shown(given)}: use the name of a field, or { fields, … }`,
    )
  }
  const options = given as UniqueSpecOptions
  checkNames('a unique field', options, specOptions)
  const { fields, missing, normalize, collation } = options
  if (fields === undefined)
    throw new RefusedOperationError(`the unique field ${shown(options)} has no option fields: name at least one field`)
  const names: unknown = fields
  if (typeof names !== 'string' && !(Array.isArray(names) && names.every((name) => typeof name === 'string')))
    throw new RefusedOperationError(`the option fields is ${shown(fields)}: use the name of a field, or several names`)
  const about = `of the unique field ${[fields].flat().join()}`
  if (missing !== undefined && missing !== 'reserve' && missing !== 'skip')
    throw new RefusedOperationError(`the option missing ${about} is ${shown(missing)}: use 'reserve' or 'skip'`)
  if (normalize !== undefined && typeof normalize !== 'function')
    throw new RefusedOperationError(`the option normalize ${about} is ${shown(normalize)}: use a function`)
  if (collation !== undefined && typeof (collation as { locale?: unknown } | null)?.locale !== 'string')
    throw new RefusedOperationError(
      `the option collation ${about} is ${shown(collation)}: use an object with a locale, such as { locale: 'en' }`,
    )
  return options
}

function checkFields(fields: readonly string[]): void {
  if (fields.length === 0) throw new RefusedOperationError('a unique combination is empty: name at least one field')
  for (const field of fields) {
    if (field === '_id') throw new RefusedOperationError('_id is always unique: remove it from the unique fields')
    if (proxyFieldNames.has(field.split('.')[0]!)) {
      throw new RefusedOperationError(
        `the field ${field} cannot be unique, because proxy documents use this name: rename the field`,
      )
    }
    if (field.split('.').some((part) => part === '' || part.startsWith('$'))) {
      throw new RefusedOperationError(
        `'${field}' is not the path of a field: use names joined by dots that do not start with $`,
      )
    }
  }
  if (fields.some((field, i) => fields.some((other, j) => i !== j && overlaps(field, other)))) {
    throw new RefusedOperationError(`the fields ${fields.join(', ')} overlap: list each field once`)
  }
}
