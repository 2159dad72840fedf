import type { Job, JobFunction, JobQueue } from '../types.js'

/**
 * In the thread of the caller, one after the other: for debuggers, and for a single job, because a
 * thread would load all modules again. No limit of time is noticed.
 */
export function callerQueue<Input, Output>(play: JobFunction<Input, Output>): JobQueue<Input, Output> {
  let isStopped = false
  let last: Promise<unknown> = Promise.resolve()
  const listeners = new Map<string, (message: unknown) => void>()
  const run = ({ key, input, onMessage }: Job<Input>): Promise<Output> =>
    play({
      input,
      post: (message) => onMessage?.(message, key),
      onMessage: (listener) => void listeners.set(key, listener),
      isStopped: () => isStopped,
    })
  return {
    depth: 1,
    run(job) {
      const played = last.then(() => run(job))
      last = played.catch(() => {})
      return played
    },
    post: (key, message) => listeners.get(key)?.(message),
    async withdraw() {},
    stop() {
      isStopped = true
    },
    async end() {},
  }
}
