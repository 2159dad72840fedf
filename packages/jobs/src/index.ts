import type { NatsQueue } from './nats/coordinator/nats-queue.js'
import type { NatsQueueOptions } from './nats/coordinator/options.js'
import type { WorkerOptions } from './nats/worker/run-worker.js'
import type { JobKind } from './types.js'

export type { NatsQueue } from './nats/coordinator/nats-queue.js'
export type { NatsQueueOptions } from './nats/coordinator/options.js'
export type { WorkerOptions } from './nats/worker/run-worker.js'
export type { WorkerEvent } from './nats/worker/worker-event.js'
export { callerQueue } from './threads/caller-queue.js'
export { threadJob, type JobOutcome, type ThreadTask } from './threads/thread-job.js'
export { threadQueue } from './threads/thread-queue.js'
export {
  JobLostError,
  JobTimeoutError,
  type Job,
  type JobCall,
  type JobFunction,
  type JobKind,
  type JobQueue,
} from './types.js'

/** On workers elsewhere. @throws OptionError if the server or the name of the run cannot be used */
export async function natsQueue<Input, Output>(
  kind: JobKind<Input, Output>,
  options: NatsQueueOptions,
): Promise<NatsQueue<Input, Output>> {
  // Runs on threads do not load the client of NATS.
  const { openNatsQueue } = await import('./nats/coordinator/nats-queue.js')
  return openNatsQueue(kind, options)
}

/**
 * Plays the jobs of all runs on the server, until stopped.
 * @throws OptionError if the server cannot be used, or is gone
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { workJobs } = await import('./nats/worker/run-worker.js')
  return workJobs(options)
}
