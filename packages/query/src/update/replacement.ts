/** Everything except `_id` is replaced. */
import { CommandError, compareValues, DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { formatField, formatValue } from '../values/format.js'

/** The document's `_id` is the first field of the result. */
export function replaceDocument(document: Uint8Array, replacement: Uint8Array): Uint8Array {
  const oldId = findField(document, '_id')
  const newId = findField(replacement, '_id')
  if (oldId !== undefined && newId !== undefined && compareValues(oldId, newId) !== 0) throw immutableIdAltered(newId)
  const id = oldId ?? newId
  if (id === undefined) return replacement
  const writer = new DocumentWriter(replacement.length + 32)
  writer.value('_id', id)
  for (const it = new FieldIterator(replacement); it.next();) {
    const name = it.name()
    if (name !== '_id') writer.value(name, it.value())
  }
  return writer.finish()
}

/** @throws CommandError with this code, as servers before 3.6 */
export function checkKeptId(document: Uint8Array, replacement: Uint8Array, code: number): void {
  const oldId = findField(document, '_id')
  const newId = findField(replacement, '_id')
  if (oldId !== undefined && newId !== undefined && compareValues(oldId, newId) !== 0)
    throw new CommandError(
      code,
      `The _id field cannot be changed from {${formatField('_id', oldId)}} to {${formatField('_id', newId)}}.`,
    )
}

export function immutableIdAltered(id: RawValue | undefined): CommandError {
  return new CommandError(
    'ImmutableField',
    `After applying the update, the (immutable) field '_id' was found to have been ${id === undefined ? 'removed' : `altered to _id: ${formatValue(id)}`}`,
  )
}
