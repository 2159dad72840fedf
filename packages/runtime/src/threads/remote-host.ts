import { Worker, type MessagePort } from 'node:worker_threads'
import { HostCalls, type ArgsOf, type ResultOf } from '../remote/host-calls.js'
import type { HostAnswer, HostReport } from '../remote/host-commands.js'
import type { WorkerBoot, WorkerCommands } from './worker-host.js'

/**
 * V8's own limit is 48. Collecting a smaller one takes less time, in which clients wait, and its
 * memory stays in use instead of being taken from the system again. With 6, however, the objects of
 * 128 connections survive their first collections: an insert takes 1.4 times the CPU.
 */
const maxYoungGenerationSizeMb = 24

/** Its answer shows that the thread is not occupied. */
export interface Ping {
  readonly sentAtMs: number
  readonly answer: Promise<void>
}

export class RemoteHost {
  readonly hostId: number
  readonly threadId: number
  /** Resolves with the error that ended the thread; null: {@link terminate} did. */
  readonly exited: Promise<Error | null>
  readonly #worker: Worker
  readonly #calls = new HostCalls<WorkerCommands>()
  readonly #onReport: (report: HostReport) => void
  #ping: Ping | null = null
  #terminated = false
  #error: Error | null = null

  constructor(entry: URL, boot: WorkerBoot, onReport: (report: HostReport) => void) {
    this.hostId = boot.hostId
    this.#onReport = onReport
    this.#worker = new Worker(entry, {
      name: `shardlab host ${boot.hostId}`,
      workerData: { shardlabHost: boot },
      transferList: boot.ports.map(({ port }) => port),
      // A loader or inspector of the caller's process would be evaluated again in each worker,
      // which takes a second.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb },
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    this.threadId = this.#worker.threadId
    this.#worker.on('message', (message: HostAnswer | HostReport) => this.#receive(message))
    this.#worker.on('error', (error) => {
      this.#error = error instanceof Error ? error : new Error(String(error))
    })
    this.exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        const error = this.#terminated ? null : (this.#error ?? new Error(`the worker ended with exit code ${code}`))
        this.#calls.end(error ?? new Error('the worker was terminated'), new Error('the worker has ended'))
        resolve(error)
      })
    })
  }

  /** Rejects with the host's error, or when the worker ends before it has answered. */
  call<N extends keyof WorkerCommands>(
    command: N,
    args: ArgsOf<WorkerCommands, N>,
    transfer: readonly MessagePort[] = [],
  ): Promise<ResultOf<WorkerCommands, N>> {
    return this.#calls.call(command, args, (call) => this.#worker.postMessage(call, transfer))
  }

  /** For the watchdog. The last ping, until it is answered. */
  ping(): Ping {
    this.#ping ??= {
      sentAtMs: performance.now(),
      answer: this.call('ping', []).then(this.#answered, this.#answered),
    }
    return this.#ping
  }

  readonly #answered = (): void => {
    this.#ping = null
  }

  /** At any point of the thread's execution. Resolves when it has ended. */
  async terminate(): Promise<void> {
    this.#terminated = true
    await this.#worker.terminate()
    await this.exited
  }

  #receive(message: HostAnswer | HostReport): void {
    if (message.type === 'done' || message.type === 'failed') this.#calls.settle(message)
    else this.#onReport(message)
  }
}
