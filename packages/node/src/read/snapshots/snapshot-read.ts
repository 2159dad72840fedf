/** Reads at a past cluster time. Manual: reference/read-concern-snapshot. */
import type { TimestampPair } from '@shardlab/actor'
import type { NodeHost } from '../../host/node-host.js'

/** The live node of each node at a past time. */
const liveNodes = new WeakMap<NodeHost, NodeHost>()

/**
 * The node at a past time: reading commands find the collections of that time, everything else is
 * that of now. It cannot be written to, because it lacks the node's private state; see
 * {@link liveNode}.
 * @throws CommandError 239 SnapshotTooOld
 */
export function nodeAtTime(node: NodeHost, time: TimestampPair): NodeHost {
  const engine = node.snapshots.at(time, node.context.now())
  const past = Object.create(node, {
    engine: { value: engine },
    collection: { value: (ns: string) => engine.collection(ns) },
  }) as NodeHost
  liveNodes.set(past, node)
  return past
}

/** The live node, which can be written to. */
export function liveNode(node: NodeHost): NodeHost {
  return liveNodes.get(node) ?? node
}
