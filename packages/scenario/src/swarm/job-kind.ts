import type { JobKind } from '@shardlab/jobs'
import type { SwarmRun, SwarmTask } from './types.js'

/** A run of the swarm is a job. */
export const swarmJobs: JobKind<SwarmTask, SwarmRun> = {
  name: 'swarm',
  module: new URL('./swarm.worker.js', import.meta.url).href,
}
