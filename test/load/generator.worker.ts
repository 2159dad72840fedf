import { parentPort, workerData } from 'node:worker_threads'
import { serveGenerator } from '@shardlab/load'

const post = (message: unknown): void => parentPort!.postMessage({ message })
const onMessage = (listener: (message: unknown) => void): void => void parentPort!.on('message', listener)
parentPort!.postMessage({ result: await serveGenerator({ input: workerData, post, onMessage }) })
