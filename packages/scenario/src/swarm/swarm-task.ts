import type { JobCall } from '@shardlab/jobs'
import { planOf } from './plan.js'
import { playSwarm } from './play.js'
import type { SwarmRun, SwarmTask } from './types.js'

export function playSwarmTask({ input }: Pick<JobCall<SwarmTask>, 'input'>): Promise<SwarmRun> {
  const { seed, reduction, mutation, recorded } = input
  return playSwarm(planOf(seed, reduction), { mutation, recorded })
}
