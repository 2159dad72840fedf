/**
 * A driver that received an error about a shard's own state (stepping down, shutting down) would
 * assume that the router steps down. Clients get HostUnreachable instead, which is retryable, too.
 * Server: rewrite_state_change_errors.cpp.
 */
import {
  BsonType,
  DocumentWriter,
  elementsOf,
  ErrorCodes,
  errorCodeName,
  FieldIterator,
  findField,
  type RawValue,
} from '@shardlab/bson'

/** Server: category NotPrimaryError. */
const notPrimary: ReadonlySet<number> = new Set<number>([
  ErrorCodes.PrimarySteppedDown,
  ErrorCodes.NotWritablePrimary,
  ErrorCodes.InterruptedDueToReplStateChange,
  ErrorCodes.NotPrimaryNoSecondaryOk,
  ErrorCodes.NotPrimaryOrSecondary,
])
/** Server: category ShutdownError. */
const shutdown: ReadonlySet<number> = new Set<number>([ErrorCodes.ShutdownInProgress, ErrorCodes.InterruptedAtShutdown])

/**
 * Replaces the errors at the top level, in `writeErrors` and in `writeConcernError`.
 * @param stopping whether the router itself shuts down: errors about shutdown then apply to it and
 *   stay
 */
export function withoutStateChanges(reply: Uint8Array, stopping: boolean): Uint8Array {
  const isHidden = (node: Uint8Array, at: number) => {
    const code = findField(node, 'code', at)
    return (
      code?.isNumber() === true && (notPrimary.has(code.asNumber()) || (!stopping && shutdown.has(code.asNumber())))
    )
  }
  const top = findField(reply, 'ok')?.asNumber() === 0 && isHidden(reply, 0)
  const inside = ['writeErrors', 'writeConcernError'].some((name) =>
    nodesOf(findField(reply, name)).some((node) => isHidden(node.bytes, node.start)),
  )
  if (!top && !inside) return reply
  const writer = new DocumentWriter(reply.length + 64)
  for (const it = new FieldIterator(reply); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === 'writeErrors' && value.type === BsonType.array) {
      writer.startArray(name)
      for (const [i, node] of elementsOf(value).entries())
        writeNode(writer, String(i), node, isHidden(node.bytes, node.start))
      writer.end()
    } else if (name === 'writeConcernError' && value.type === BsonType.object)
      writeNode(writer, name, value, isHidden(value.bytes, value.start))
    else if (top) writeField(writer, name, value)
    else writer.value(name, value)
  }
  return writer.finish()
}

function nodesOf(value: RawValue | undefined): readonly RawValue[] {
  if (value?.type === BsonType.array) return elementsOf(value).filter(({ type }) => type === BsonType.object)
  return value?.type === BsonType.object ? [value] : []
}

function writeNode(writer: DocumentWriter, name: string, node: RawValue, hidden: boolean): void {
  if (!hidden) {
    writer.value(name, node)
    return
  }
  writer.startDocument(name)
  for (const it = new FieldIterator(node.bytes, node.start); it.next();) writeField(writer, it.name(), it.value())
  writer.end()
}

function writeField(writer: DocumentWriter, name: string, value: RawValue): void {
  if (name === 'code') writer.int32(name, ErrorCodes.HostUnreachable)
  else if (name === 'codeName') writer.string(name, errorCodeName(ErrorCodes.HostUnreachable))
  else if (name === 'errmsg' && value.type === BsonType.string) writer.string(name, withoutPhrases(value.asString()))
  else writer.value(name, value)
}

/** Old drivers search error texts for these words. */
const withoutPhrases = (text: string): string =>
  text.replaceAll('not master', '(NOT_PRIMARY)').replaceAll('node is recovering', '(NODE_IS_RECOVERING)')
