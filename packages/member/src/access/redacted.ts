import type { CommandRow } from '@shardlab/actor'
import { BsonType, DocumentWriter, FieldIterator, findField, firstFieldName } from '@shardlab/bson'

type Sensitive = Pick<CommandRow<never>, 'name' | 'sensitive'>

/**
 * A command as logs, currentOp and errors show it.
 * @param findRow of the command in an explain
 */
export function publicCommand(
  body: Uint8Array,
  { name, sensitive }: Sensitive,
  findRow: (name: string) => Sensitive | undefined,
): Uint8Array {
  if (sensitive !== undefined) return redacted(body, sensitive)
  if (name !== 'explain') return body
  const it = new FieldIterator(body)
  if (!it.next() || it.type !== BsonType.object) return body
  const inner = it.value().slice()
  const row = findRow(firstFieldName(inner) ?? '')
  if (row?.sensitive === undefined) return body
  const writer = new DocumentWriter(body.length + 16).document(it.name(), redacted(inner, row.sensitive))
  while (it.next()) writer.value(it.name(), it.value())
  return writer.finish()
}

/** Secrets are shown as `xxx`. Server: Command::snipForLogging, sensitiveFieldNames. */
function redacted(body: Uint8Array, sensitive: readonly string[]): Uint8Array {
  if (sensitive.every((name) => findField(body, name) === undefined)) return body
  const writer = new DocumentWriter(body.length + 16)
  for (const it = new FieldIterator(body); it.next();) {
    if (sensitive.includes(it.name())) writer.string(it.name(), 'xxx')
    else writer.value(it.name(), it.value())
  }
  return writer.finish()
}
