/** Checks the options of a spec. */
import { RefusedOperationError } from './errors.js'
import { overlaps, type UniqueSpec, type UniqueSpecOptions } from './spec.js'

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
