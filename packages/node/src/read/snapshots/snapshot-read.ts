/** Reads at a past cluster time. Manual: reference/read-concern-snapshot. */
import type { TimestampPair } from '@shardlab/actor'
import type { NodeHost } from '../../host/node-host.js'

/** Nodes as they were, with what they are. */
const presents = new WeakMap<NodeHost, NodeHost>()

/**
 * The node as it was at a time: commands that read find its collections of then, everything else is as it is now. It has no private state:
 * nothing can be written to it, see {@link presentNode}.
 * @throws CommandError 239 SnapshotTooOld
 */
export function nodeAtTime(node: NodeHost, time: TimestampPair): NodeHost {
  const engine = node.snapshots.at(time, node.context.now())
  const past = Object.create(node, {
    engine: { value: engine },
    collection: { value: (ns: string) => engine.collection(ns) },
  }) as NodeHost
  presents.set(past, node)
  return past
}

/** Of a node as it was at a past time the node itself, the only one that can be written to; any other as it is. */
export function presentNode(node: NodeHost): NodeHost {
  return presents.get(node) ?? node
}
