/** Ends a process that hangs in its own thread, and names the message: the thread itself cannot. */
import { Worker } from 'node:worker_threads'

/** Counts messages; ends the process when the count does not change for `limitMs`. */
export class Watchdog {
  readonly #count = new Int32Array(new SharedArrayBuffer(4))
  readonly #worker: Worker

  constructor(what: string, limitMs: number) {
    this.#worker = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads')
       let seen = -1
       setInterval(() => {
         const now = Atomics.load(workerData.count, 0)
         if (now === seen) {
           process._rawDebug(workerData.what + ' stands still at message ' + now)
           process.kill(process.pid, 'SIGKILL')
         }
         seen = now
       }, workerData.limitMs)`,
      { eval: true, workerData: { count: this.#count, what, limitMs } },
    )
    this.#worker.unref()
  }

  /** Records that message number `index` is about to be sent. */
  at(index: number): void {
    Atomics.store(this.#count, 0, index)
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}
