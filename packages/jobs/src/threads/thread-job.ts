import type { MessagePort } from 'node:worker_threads'
import { JobTimeoutError, type JobFunction } from '../types.js'

/** A task of the thread pool. */
export interface ThreadTask<Input> {
  readonly input: Input
  readonly port: MessagePort
  /** Non-zero: stopped. */
  readonly stopped: Int32Array
}

/** Plain data: classes of errors do not survive the transfer between threads and machines. */
export type JobOutcome<Output> = { readonly output: Output } | { readonly error: PlainError }

export interface PlainError {
  readonly name: string
  readonly message: string
  readonly stack: string
}

/** The default export of the module of a {@link JobKind}. */
export function threadJob<Input, Output>(
  play: JobFunction<Input, Output>,
): (task: ThreadTask<Input>) => Promise<JobOutcome<Output>> {
  return async ({ input, port, stopped }) => {
    try {
      const output = await play({
        input,
        post: (message) => port.postMessage(message),
        onMessage: (listener) => void port.on('message', listener),
        isStopped: () => Atomics.load(stopped, 0) !== 0,
      })
      return { output }
    } catch (error) {
      return { error: plainError(error) }
    } finally {
      port.close()
    }
  }
}

export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: '' }
  return { name: error.name, message: error.message, stack: error.stack ?? '' }
}

/** @throws the error of the job, with its name and message */
export function outputOf<Output>(outcome: JobOutcome<Output>): Output {
  if ('output' in outcome) return outcome.output
  const { name, message, stack } = outcome.error
  if (name === JobTimeoutError.name) throw new JobTimeoutError(message)
  throw Object.assign(new Error(message), { name, stack })
}
