import type { CancelSignal } from '@shardlab/actor'

/** Calls `listener` when the signal aborts, unless the function that is returned has been called before. */
export function whenAborted(signal: CancelSignal, listener: () => void): () => void {
  // Each time one of its own: who listens twice is called twice.
  const own = () => listener()
  signal.addEventListener('abort', own, { once: true })
  return () => signal.removeEventListener('abort', own)
}
