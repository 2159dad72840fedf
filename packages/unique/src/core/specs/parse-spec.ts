import { RefusedOperationError } from '../errors.js'
import { overlaps, type UniqueSpec, type UniqueSpecOptions } from './spec.js'

const proxyFieldNames: ReadonlySet<string> = new Set(['_id', 'owner', 'state', 'attempt', 'expiresAt'])

/** @throws RefusedOperationError for fields that a proxy document cannot store */
export function parseSpec(given: string | UniqueSpecOptions): UniqueSpec {
  const options = typeof given === 'string' ? { fields: given } : given
  const fields = typeof options.fields === 'string' ? [options.fields] : [...options.fields]
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
  return {
    name: fields.join(','),
    fields,
    missing: options.missing ?? 'reserve',
    normalize: options.normalize === undefined ? null : (value, field) => options.normalize!(value, field),
    collation: options.collation ?? null,
  }
}
