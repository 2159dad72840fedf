import type { JobKind } from '@shardlab/jobs'
import type { SwarmRun, SwarmTask } from './types.js'

/**
 * V8's own limit is 48. With it, the living objects of a run are copied more often, and a run takes
 * a quarter longer.
 */
const maxYoungGenerationSizeMb = 192

/** A run of the swarm is a job. */
export const swarmJobs: JobKind<SwarmTask, SwarmRun> = {
  name: 'swarm',
  module: new URL('./swarm.worker.js', import.meta.url).href,
  limitsOf: () => ({ maxYoungGenerationSizeMb }),
}
