import type { MutationName } from '@shardlab/actor'
import type { Finding } from './finding.js'
import { planOf } from './plan.js'
import { playSwarm } from './play.js'
import type { Reduction, SwarmRun } from './types.js'

export interface SwarmTask {
  readonly seed: number
  readonly reduction: Reduction
  readonly mutation: MutationName | null
  /** The finding for which a timeline is recorded; null: none. */
  readonly recorded: Pick<Finding, 'ns' | 'ids'> | null
}

export function playSwarmTask({ seed, reduction, mutation, recorded }: SwarmTask): Promise<SwarmRun> {
  return playSwarm(planOf(seed, reduction), { mutation, recorded })
}
