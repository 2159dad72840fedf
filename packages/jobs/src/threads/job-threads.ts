/** Plays jobs on worker threads: of the queue of this process, and of a worker for others. */
import { MessageChannel, type ResourceLimits } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { JobTimeoutError, type JobKind } from '../types.js'
import type { JobOutcome, ThreadTask } from './thread-job.js'

export interface RunningJob<Output> {
  /** @throws JobTimeoutError, an AbortError after `cancel` */
  readonly outcome: Promise<JobOutcome<Output>>
  post(message: unknown): void
  stop(): void
  /** Ends the job, with its thread. */
  cancel(): void
}

/**
 * Threads without jobs end after this time, so that a worker for several kinds does not keep all.
 */
const idleMs = 60_000

export class JobThreads<Input, Output> {
  readonly #kind: JobKind<Input, Output>
  readonly #threads: number
  /** By the limits of their threads. */
  readonly #pools = new Map<string, Piscina>()
  readonly #undo: (() => void)[] = []

  constructor(kind: JobKind<Input, Output>, threads: number) {
    this.#kind = kind
    this.#threads = threads
  }

  play(input: Input, msMax: number | undefined, onMessage: (message: unknown) => void): RunningJob<Output> {
    const { port1, port2 } = new MessageChannel()
    port1.on('message', onMessage)
    const stopped = new Int32Array(new SharedArrayBuffer(4))
    const cancellation = new AbortController()
    const task: ThreadTask<Input> = { input, port: port2, stopped }
    const undo = this.#kind.prepare?.(input)
    if (undo !== undefined) this.#undo.push(undo)
    const pool = this.#poolOf(this.#kind.limitsOf?.(input))
    const play = async (): Promise<JobOutcome<Output>> => {
      let isLate = false
      const late = (): void => {
        isLate = true
        cancellation.abort()
      }
      const alarm = msMax === undefined ? undefined : setTimeout(late, msMax)
      try {
        return (await pool.run(task, { transferList: [port2], signal: cancellation.signal })) as JobOutcome<Output>
      } catch (error) {
        if (isLate) throw new JobTimeoutError(`the job did not end within ${msMax! / 1000} seconds`)
        throw error
      } finally {
        clearTimeout(alarm)
        port1.close()
      }
    }
    return {
      outcome: play(),
      post: (message) => port1.postMessage(message),
      stop: () => void Atomics.store(stopped, 0, 1),
      cancel: () => cancellation.abort(),
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
    for (const undo of this.#undo.splice(0)) undo()
  }

  #poolOf(resourceLimits: ResourceLimits = {}): Piscina {
    const key = JSON.stringify(resourceLimits)
    let pool = this.#pools.get(key)
    if (pool === undefined) {
      // Loaders of the caller, such as a test runner's, would run in each thread.
      pool = new Piscina({
        filename: this.#kind.module,
        minThreads: 0,
        maxThreads: this.#threads,
        idleTimeout: idleMs,
        execArgv: [],
        resourceLimits,
      })
      this.#pools.set(key, pool)
    }
    return pool
  }
}
