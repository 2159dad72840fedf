/**
 * Server: `WriteError::serialize`; until 5.0 batched_command_response.cpp and
 * write_error_detail.cpp.
 */
import { CommandError, DocumentWriter, FieldIterator, findField, textOf } from '@shardlab/bson'
import { writeCode } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import { codeIn } from './shard-write-reply.js'

export type WriteErrorStyle = Pick<Behaviours, 'writeErrorMessageFirst' | 'routerNamesWriteErrors' | 'errorCodeNames'>

/** Written separately, or not part of an error. */
const ownFields = new Set(['index', 'idx', 'ok', 'code', 'codeName', 'errmsg', 'n', 'nModified'])

/** @param message replaces the entry's own */
export function shownEntry(index: number, entry: Uint8Array, style: WriteErrorStyle, message: string): Uint8Array {
  return entryOf(index, entry, message, style, (name) => !style.routerNamesWriteErrors || name === 'errInfo')
}

/**
 * The errors of several shards for one statement are in `errInfo.causedBy`. Server: write_op.cpp,
 * combineOpErrors; MultipleErrorsOccurredInfo.
 */
export function combinedError(index: number, entries: readonly Uint8Array[], style: WriteErrorStyle): CommandError {
  const causes = entries.map((entry) => entryOf(index, entry, messageIn(entry), style, () => true))
  const extra = new DocumentWriter(256).startDocument('errInfo').documents('causedBy', causes).end().finish()
  return new CommandError(
    'MultipleErrorsOccurred',
    `multiple errors for op : ${entries.map(messageIn).join(' :: and :: ')}`,
    { extra },
  )
}

export function messageIn(entry: Uint8Array): string {
  return textOf(findField(entry, 'errmsg'))
}

function entryOf(
  index: number,
  entry: Uint8Array,
  message: string,
  style: WriteErrorStyle,
  tells: (name: string) => boolean,
): Uint8Array {
  const { writeErrorMessageFirst, routerNamesWriteErrors } = style
  const code = codeIn(entry)
  const messageFirst = writeErrorMessageFirst || routerNamesWriteErrors
  const writer = new DocumentWriter(entry.length + 64).int32('index', index)
  if (routerNamesWriteErrors) writeCode(writer, code, style)
  else writer.int32('code', code)
  if (messageFirst) writer.string('errmsg', message)
  for (const it = new FieldIterator(entry); it.next();) {
    const name = it.name()
    if (!ownFields.has(name) && tells(name)) writer.value(name, it.value())
  }
  return (messageFirst ? writer : writer.string('errmsg', message)).finish()
}
