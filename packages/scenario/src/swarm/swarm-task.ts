import type { MutationName } from '@shardlab/actor'
import type { FaultVerbName } from '@shardlab/cluster'
import { planOf } from './plan.js'
import { playSwarm } from './play.js'
import type { SwarmRun } from './types.js'

export interface SwarmTask {
  readonly seed: number
  readonly without: readonly FaultVerbName[]
  readonly mutation: MutationName | null
}

export function playSwarmTask({ seed, without, mutation }: SwarmTask): Promise<SwarmRun> {
  return playSwarm(planOf(seed, without), mutation)
}
