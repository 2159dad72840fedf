import type { Random } from '@shardlab/actor'
import type { NodeHost } from '@shardlab/node'

const generators = new WeakMap<NodeHost, Random>()

/** One generator per member: each sample continues where the previous one ended. */
export function samplingRandom(node: NodeHost): Random {
  let own = generators.get(node)
  if (own === undefined) generators.set(node, (own = node.context.random.fork('shard-key-analysis')))
  return own
}
