/** Generators on threads that a test can kill. */
import { Worker } from 'node:worker_threads'
import type { GeneratorPool } from '@shardlab/load'

/** @param mayDie whether the generator that has sent this message is killed, and replaced */
export function threadGenerators(mayDie: (message: unknown, opened: number) => boolean): GeneratorPool {
  let opened = 0
  return {
    open(options, onMessage) {
      let worker: Worker
      const { promise, resolve, reject } = deferred()
      const start = (): void => {
        const number = ++opened
        worker = new Worker(new URL('./generator.worker.js', import.meta.url), { workerData: options, execArgv: [] })
        worker.on('error', reject)
        worker.on('message', (sent: { message?: unknown; result?: unknown }) => {
          if ('result' in sent) {
            resolve(sent.result)
            return void worker.terminate()
          }
          onMessage(sent.message)
          if (mayDie(sent.message, number)) void worker.terminate().then(start)
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
