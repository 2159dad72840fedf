/** Manual: reference/read-concern-snapshot. */
import { CommandError, BsonType, DocumentWriter, FieldIterator } from '@shardlab/bson'
import type { TimestampPair } from '@shardlab/actor'
import type { ReadConcern } from './concerns.js'

/** @throws CommandError 72 InvalidOptions in versions that read snapshots in transactions only */
export function checkSnapshotReads(
  { level }: ReadConcern,
  { snapshotReads }: { readonly snapshotReads: boolean },
): void {
  if (level === 'snapshot' && !snapshotReads) {
    throw new CommandError(
      'InvalidOptions',
      'readConcern level snapshot is only valid for the first transaction operation',
    )
  }
}

/** Inside the cursor; at the top level of a reply without a cursor. */
export function withAtClusterTime(reply: DocumentWriter, [seconds, increment]: TimestampPair): DocumentWriter {
  const body = reply.finish()
  const writer = new DocumentWriter(body.length + 192)
  let told = false
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    const value = it.value()
    told ||= name === 'cursor' || name === 'atClusterTime'
    if (name !== 'cursor' || value.type !== BsonType.object) {
      writer.value(name, value)
      continue
    }
    writer.startDocument('cursor')
    for (const field = new FieldIterator(value.bytes, value.start); field.next();)
      if (field.name() !== 'atClusterTime') writer.value(field.name(), field.value())
    writer.timestamp('atClusterTime', seconds, increment).end()
  }
  return told ? writer : writer.timestamp('atClusterTime', seconds, increment)
}
