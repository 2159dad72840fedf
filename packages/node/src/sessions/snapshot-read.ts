/** Reads at a past cluster time. Manual: reference/read-concern-snapshot. */
import type { TimestampPair } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import type { ReadConcern } from '../crud/concerns.js'
import type { StorageNode } from '../storage-node.js'

/** @throws CommandError 72 InvalidOptions where the emulated version reads snapshots in transactions only */
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

/** Nodes as they were, with what they are. */
const presents = new WeakMap<StorageNode, StorageNode>()

/**
 * The node as it was at a time: commands that read find its collections of then, everything else is as it is now. It has no private state:
 * nothing can be written to it, see {@link presentNode}.
 * @throws CommandError 239 SnapshotTooOld
 */
export function nodeAtTime(node: StorageNode, time: TimestampPair): StorageNode {
  const engine = node.snapshots.at(time, node.context.now())
  const past = Object.create(node, {
    engine: { value: engine },
    collection: { value: (ns: string) => engine.collection(ns) },
  }) as StorageNode
  presents.set(past, node)
  return past
}

/** Of a node as it was at a past time the node itself, the only one that can be written to; any other as it is. */
export function presentNode(node: StorageNode): StorageNode {
  return presents.get(node) ?? node
}

/** The reply with the time that was read at: in its cursor, or beside its values. */
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
