import { Worker, type MessagePort } from 'node:worker_threads'
import { createDeferred, type Deferred } from '@shardlab/actor'
import type { HostBoot, HostCall, HostCommandName, HostCommands, HostReport } from './protocol.js'

type Report = Exclude<HostReport, { type: 'done' | 'failed' }>

/** A worker as its supervisor sees it. */
export class RemoteHost {
  readonly hostId: number
  readonly threadId: number
  /** Resolves when the thread is gone, with what it died of; null when {@link terminate} ended it. */
  readonly exited: Promise<Error | null>
  readonly #worker: Worker
  readonly #calls = new Map<number, Deferred<unknown>>()
  readonly #onReport: (report: Report) => void
  #lastCallId = 0
  #terminated = false
  #error: Error | null = null

  constructor(entry: URL, boot: HostBoot, onReport: (report: Report) => void) {
    this.hostId = boot.hostId
    this.#onReport = onReport
    this.#worker = new Worker(entry, {
      name: `shardlab host ${boot.hostId}`,
      workerData: { shardlabHost: boot },
      transferList: boot.links.map(({ port }) => port),
      // A loader or inspector of the caller's process would be evaluated again in each worker: a second instead of milliseconds.
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    this.threadId = this.#worker.threadId
    this.#worker.on('message', (report: HostReport) => this.#receive(report))
    this.#worker.on('error', (error) => {
      this.#error = error instanceof Error ? error : new Error(String(error))
    })
    this.exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        const error = this.#terminated ? null : (this.#error ?? new Error(`the worker ended with exit code ${code}`))
        for (const call of this.#calls.values()) call.reject(error ?? new Error('the worker was terminated'))
        this.#calls.clear()
        resolve(error)
      })
    })
  }

  /** Rejects with the host's error, or when it ends before it has answered. */
  call<N extends HostCommandName>(command: N, args: Parameters<HostCommands[N]>, transfer: readonly MessagePort[] = []): Promise<Awaited<ReturnType<HostCommands[N]>>> {
    const call = createDeferred<unknown>()
    const callId = ++this.#lastCallId
    this.#calls.set(callId, call)
    this.#worker.postMessage({ callId, command, args } satisfies HostCall, transfer)
    return call.promise as Promise<Awaited<ReturnType<HostCommands[N]>>>
  }

  /** Ends the thread wherever it is; resolves when it is gone. */
  async terminate(): Promise<void> {
    this.#terminated = true
    await this.#worker.terminate()
    await this.exited
  }

  #receive(report: HostReport): void {
    if (report.type !== 'done' && report.type !== 'failed') {
      this.#onReport(report)
      return
    }
    const call = this.#calls.get(report.callId)
    this.#calls.delete(report.callId)
    if (report.type === 'done') call?.resolve(report.value)
    else call?.reject(report.error)
  }
}
