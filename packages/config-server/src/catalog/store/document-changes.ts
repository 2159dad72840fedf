import { DocumentWriter, fieldsOf, type RawValue } from '@shardlab/bson'

/**
 * Existing fields keep their place; new ones are appended, as by `$set`.
 * @param changes null removes a field
 */
export function withFields(document: Uint8Array, changes: Readonly<Record<string, RawValue | null>>): Uint8Array {
  const writer = new DocumentWriter(document.length + 64)
  const seen = new Set<string>()
  for (const [name, value] of fieldsOf(document)) {
    seen.add(name)
    const changed = Object.hasOwn(changes, name) ? changes[name]! : value
    if (changed !== null) writer.value(name, changed)
  }
  for (const [name, value] of Object.entries(changes)) if (!seen.has(name) && value !== null) writer.value(name, value)
  return writer.finish()
}
