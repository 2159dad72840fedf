import type { Job, JobKind, JobQueue } from '../types.js'
import { JobThreads, type RunningJob } from './job-threads.js'
import { outputOf } from './thread-job.js'

/** On worker threads of this process. */
export function threadQueue<Input, Output>(kind: JobKind<Input, Output>, threads: number): JobQueue<Input, Output> {
  return new ThreadQueue(kind, threads)
}

class ThreadQueue<Input, Output> implements JobQueue<Input, Output> {
  readonly depth: number
  readonly #threads: JobThreads<Input, Output>
  readonly #running = new Map<string, RunningJob<Output>>()
  /** Called with whether the job is withdrawn. */
  readonly #waiting: ((isWithdrawn: boolean) => void)[] = []
  #isStopped = false

  constructor(kind: JobKind<Input, Output>, threads: number) {
    this.depth = threads
    this.#threads = new JobThreads(kind, threads)
  }

  async run({ key, input, msMax, onMessage }: Job<Input>): Promise<Output | null> {
    while (this.#running.size >= this.depth)
      if (await new Promise<boolean>((resolve) => this.#waiting.push(resolve))) return null
    const job = this.#threads.play(input, msMax, (message) => onMessage?.(message, key))
    this.#running.set(key, job)
    if (this.#isStopped) job.stop()
    try {
      return outputOf(await job.outcome)
    } finally {
      this.#running.delete(key)
      this.#waiting.shift()?.(false)
    }
  }

  post(key: string, message: unknown): void {
    this.#running.get(key)?.post(message)
  }

  async withdraw(): Promise<void> {
    for (const wake of this.#waiting.splice(0)) wake(true)
  }

  stop(): void {
    this.#isStopped = true
    for (const job of this.#running.values()) job.stop()
  }

  end(): Promise<void> {
    return this.#threads.end()
  }
}
