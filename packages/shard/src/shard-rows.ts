import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '@shardlab/node'
import { splitVectorCommand } from './commands/split-vector.js'
import { cleanupOrphaned } from './commands/cleanup-orphaned.js'
import { checkShardingIndex } from './commands/check-sharding-index.js'
import { coordinateCommitTransaction } from './commands/coordinate-commit-transaction.js'
import { getShardVersion } from './commands/get-shard-version.js'
import { shardingState } from './commands/sharding-state.js'

/** Added to the commands of every node. */
export const shardRows: readonly CommandRow<NodeInvocation>[] = [
  cleanupOrphaned,
  checkShardingIndex,
  coordinateCommitTransaction,
  shardingState,
  splitVectorCommand,
  getShardVersion,
]
