import { setMaxListeners } from 'node:events'

/** Calls `listener` when the signal aborts, unless the function that is returned has been called before. */
export function whenAborted(signal: AbortSignal, listener: () => void): () => void {
  // One signal may end everything that a member waits for: no number of listeners is too many.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}
