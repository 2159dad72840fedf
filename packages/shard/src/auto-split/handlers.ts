/** What the balancer, and those who wait for it, ask of a shard. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import type { ShardHandlers, ShardParts } from '../shard-parts.js'
import { findSplitPoints } from './split-points.js'

export const balancingHandlers: ShardHandlers<'shard.find-split-points' | 'shard.finish-balancing'> = {
  'shard.find-split-points': findSplitPoints,
  'shard.finish-balancing': finishBalancing,
}

async function finishBalancing(
  { autoSplitter, migrations: { deleter }, node }: ShardParts,
  { rangeDeletions }: RequestOf<'shard.finish-balancing'>,
): Promise<ReplyOf<'shard.finish-balancing'>> {
  let worked = await autoSplitter.idle()
  if (!rangeDeletions) return { worked }
  // A range whose migration is not decided yet is none to delete.
  const ready = deleter.tasks.all().filter(({ pending }) => !pending)
  for (const { id } of ready) deleter.release(id, 'now')
  await node.flush()
  for (const { id } of ready) await deleter.waitForTask(id)
  worked ||= ready.length > 0
  return { worked }
}
