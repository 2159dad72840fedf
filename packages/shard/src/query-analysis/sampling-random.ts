import type { Random } from '@shardlab/actor'
import type { StorageNode } from '@shardlab/node'

const dice = new WeakMap<StorageNode, Random>()

/** The generator for all samples of documents of a member: one sample after another is another one. */
export function analysisDice(node: StorageNode): Random {
  let own = dice.get(node)
  if (own === undefined) dice.set(node, (own = node.context.random.fork('shard-key-analysis')))
  return own
}
