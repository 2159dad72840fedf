import type { Random } from '@shardlab/actor'
import type { NodeHost } from '@shardlab/node'

const generators = new WeakMap<NodeHost, Random>()

/** The generator for all samples of documents of a member: one sample after another is another one. */
export function samplingRandom(node: NodeHost): Random {
  let own = generators.get(node)
  if (own === undefined) generators.set(node, (own = node.context.random.fork('shard-key-analysis')))
  return own
}
