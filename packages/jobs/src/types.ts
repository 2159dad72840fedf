import type { ResourceLimits } from 'node:worker_threads'

/** Jobs of a kind are played by one module. */
export interface JobKind<Input, Output> {
  /** Letters. */
  readonly name: string
  /** URL of the module, whose default export is a {@link threadJob}. */
  readonly module: string
  /** Limits of a thread for this job. Default: Node's. */
  readonly limitsOf?: (input: Input) => ResourceLimits
  /** Called in this process before a thread plays the job. @returns its inverse, for the end */
  readonly prepare?: (input: Input) => () => void
  /** Why a worker does not play the job; null: it does. */
  readonly refusal?: (input: Input) => string | null
  /** Only types. */
  readonly output?: Output
}

/** Plays a job on its worker thread. */
export type JobFunction<Input, Output> = (call: JobCall<Input>) => Promise<Output>

export interface JobCall<Input> {
  readonly input: Input
  /** To {@link Job.onMessage}; may be lost with the connection or the worker. */
  readonly post: (message: unknown) => void
  /** What the caller posts. */
  readonly onMessage: (listener: (message: unknown) => void) => void
  /** The caller has stopped the queue: end early. Works without a turn of the event loop. */
  readonly isStopped: () => boolean
}

export interface Job<Input> {
  /** Unique in its queue: letters, digits, `-` and `_`. */
  readonly key: string
  readonly input: Input
  /** Real time after which the job is ended, with its thread. Default: none. */
  readonly msMax?: number
  /** `attempt` differs each time that a worker takes the job. */
  readonly onMessage?: (message: unknown, attempt: string) => void
}

/** Inputs, outputs and messages are data that msgpack and structured clones keep. */
export interface JobQueue<Input, Output> {
  /** Jobs that the caller should have in the queue; further ones would only wait. */
  readonly depth: number
  /**
   * Resolves with null if the job was withdrawn.
   * @throws the error of the job, with its name and message
   * @throws JobTimeoutError, JobLostError
   */
  run(job: Job<Input>): Promise<Output | null>
  /** To the running job. */
  post(key: string, message: unknown): void
  /** Withdraws the jobs that no worker has taken. Later ones are not affected. */
  withdraw(): Promise<void>
  /** Jobs see it as `isStopped`. */
  stop(): void
  /** Ends running jobs, and removes the queue. */
  end(): Promise<void>
}

/** The job did not end within its `msMax`. */
export class JobTimeoutError extends Error {
  override readonly name = 'JobTimeoutError'
}

/** No worker that took the job has finished it. */
export class JobLostError extends Error {
  override readonly name = 'JobLostError'
}
