/** Manual: reference/read-concern-snapshot. */
import type { TimestampPair } from '@shardlab/actor'
import type { StorageEngine } from '@shardlab/storage'
import type { NodeHost } from '../../host/node-host.js'
import { linkToLive } from './live-node.js'

/**
 * Reading commands find the collections of that time; everything else is current. The node cannot
 * be written to, because it lacks the live node's private state; see `liveNode`.
 * @throws CommandError 239 SnapshotTooOld
 */
export function nodeAtTime(node: NodeHost, time: TimestampPair): NodeHost {
  return nodeWithEngine(node, node.snapshots.at(time, node.context.now()))
}

/** As {@link nodeAtTime}, with the collections of this engine. */
export function nodeWithEngine(node: NodeHost, engine: StorageEngine): NodeHost {
  const past = Object.create(node, {
    engine: { value: engine },
    oplog: { value: node.oplog },
    collection: { value: (ns: string) => engine.collection(ns) },
  }) as NodeHost
  linkToLive(past, node)
  return past
}
