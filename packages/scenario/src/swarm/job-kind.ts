import type { JobKind } from '@shardlab/jobs'
import type { SwarmRun, SwarmTask } from './types.js'

/**
 * The engine's default is 48. Most objects of a run would outlive a generation of that size, and
 * collecting them takes a fifth of the time.
 */
const maxYoungGenerationSizeMb = 192

/** A run of the swarm is a job. */
export const swarmJobs: JobKind<SwarmTask, SwarmRun> = {
  name: 'swarm',
  module: new URL('./swarm.worker.js', import.meta.url).href,
  limitsOf: () => ({ maxYoungGenerationSizeMb }),
}
