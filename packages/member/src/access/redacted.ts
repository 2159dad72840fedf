import { DocumentWriter, FieldIterator, findField } from '@shardlab/bson'

/** Secrets are shown as `xxx`. Server: Command::snipForLogging, sensitiveFieldNames. */
export function redacted(body: Uint8Array, sensitive: readonly string[]): Uint8Array {
  if (sensitive.every((name) => findField(body, name) === undefined)) return body
  const writer = new DocumentWriter(body.length + 16)
  for (const it = new FieldIterator(body); it.next();) {
    if (sensitive.includes(it.name())) writer.string(it.name(), 'xxx')
    else writer.value(it.name(), it.value())
  }
  return writer.finish()
}
