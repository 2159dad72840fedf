import type { ReplyOf, RequestOf } from '@shardlab/actor'
import type { ShardHandlers } from '../host/handlers.js'
import type { RangeDeleter } from '../range-deletion/range-deleter.js'
import type { AutoSplitter } from './auto-splitter.js'
import { findSplitPoints, type SplitPointsHost } from './split-points.js'

interface BalancingHost extends SplitPointsHost {
  readonly autoSplitter: Pick<AutoSplitter, 'idle'>
  readonly rangeDeleter: Pick<RangeDeleter, 'tasks' | 'release' | 'waitForTask'>
}

export const balancingHandlers: ShardHandlers<'shard.find-split-points' | 'shard.finish-balancing', BalancingHost> = {
  'shard.find-split-points': findSplitPoints,
  'shard.finish-balancing': finishBalancing,
}

async function finishBalancing(
  { autoSplitter, rangeDeleter, node }: BalancingHost,
  { rangeDeletions }: RequestOf<'shard.finish-balancing'>,
): Promise<ReplyOf<'shard.finish-balancing'>> {
  let worked = await autoSplitter.idle()
  if (!rangeDeletions) return { worked }
  // Ranges of undecided migrations are not deleted.
  const ready = rangeDeleter.tasks.all().filter(({ pending }) => !pending)
  for (const { id } of ready) rangeDeleter.release(id, 'now')
  await node.flushToMajority()
  for (const { id } of ready) await rangeDeleter.waitForTask(id)
  worked ||= ready.length > 0
  return { worked }
}
