/** Generators on threads that a test can kill. */
import { Worker } from 'node:worker_threads'
import type { GeneratorPool } from '@shardlab/load'

export type Death = 'replaced' | 'lost'

/** @param deathOf whether the generator that has sent this message is killed; null: it is not */
export function threadGenerators(deathOf: (message: unknown, opened: number) => Death | null): GeneratorPool {
  let opened = 0
  return {
    open(options, onMessage) {
      let worker: Worker
      const { promise, resolve, reject } = deferred()
      const start = (): void => {
        const number = ++opened
        let isDead = false
        worker = new Worker(new URL('./generator.worker.js', import.meta.url), { workerData: options, execArgv: [] })
        worker.on('error', reject)
        worker.on('message', (sent: { message?: unknown; result?: unknown }) => {
          if (isDead) return
          if ('result' in sent) {
            resolve(sent.result)
            return void worker.terminate()
          }
          onMessage(sent.message)
          const death = deathOf(sent.message, number)
          if (death === null) return
          isDead = true
          void worker
            .terminate()
            .then(() => (death === 'replaced' ? start() : reject(new Error('no worker has finished the job'))))
        })
      }
      start()
      return { result: promise, post: (message) => worker.postMessage(message) }
    },
  }
}

function deferred() {
  let resolve: (value: unknown) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise((...settle) => ([resolve, reject] = settle))
  return { promise, resolve, reject }
}
