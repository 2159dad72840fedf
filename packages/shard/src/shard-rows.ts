import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '@shardlab/node'
import { shardingState } from './commands/sharding-state.js'

/** Commands of a shard beside those of every storage node. */
export const shardRows: readonly CommandRow<NodeInvocation>[] = [shardingState]
