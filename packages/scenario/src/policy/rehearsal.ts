/**
 * The top level of a module may run or wait forever, so a thread that can be terminated loads it
 * first.
 */
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/** Errors are ignored here: they recur when the module is really loaded. */
const loading = `
const { parentPort, workerData } = require('node:worker_threads')
const done = () => parentPort.postMessage(null)
import(workerData).then(done, done)`

/** @returns `loaded`; `late`: not in time; `never`: the thread ended first */
export async function rehearseLoading(file: string, mostMs: number): Promise<'loaded' | 'late' | 'never'> {
  // Suppress output that would appear twice.
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
      // A top level that awaits something impossible leaves its thread idle, so the thread exits.
      worker.once('exit', () => resolve('never'))
      timer = setTimeout(() => resolve('late'), mostMs)
    })
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
