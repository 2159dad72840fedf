/**
 * What a module does while it is loaded, tried in a thread that can be ended: code of its top level
 * may run, or wait, without an end.
 */
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/** Errors of the module are of no interest here: they come again when it is loaded in earnest. */
const loading = `
const { parentPort, workerData } = require('node:worker_threads')
const done = () => parentPort.postMessage(null)
import(workerData).then(done, done)`

/**
 * Loads a module in a thread of its own, which is ended in any case.
 * @param mostMs so long it may take
 * @returns whether it was loaded, not in time, or never: its thread ended before
 */
export async function rehearseLoading(file: string, mostMs: number): Promise<'loaded' | 'late' | 'never'> {
  // What the module writes would be written twice.
  const worker = new Worker(loading, {
    eval: true,
    workerData: pathToFileURL(file).href,
    stdout: true,
    stderr: true,
    execArgv: [],
  })
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve) => {
      worker.once('message', () => resolve('loaded'))
      worker.once('error', () => resolve('loaded'))
      // A top level that waits for what nobody does leaves its thread with nothing to do.
      worker.once('exit', () => resolve('never'))
      timer = setTimeout(() => resolve('late'), mostMs)
    })
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
