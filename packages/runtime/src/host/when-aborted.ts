import type { CancelSignal } from '@shardlab/actor'

/** Who listens to each signal: one listener of the platform's for all of them, which cost more to add and to take away than a message. */
const listening = new WeakMap<CancelSignal, Set<() => void>>()

/** Calls `listener` when the signal aborts, unless the function that is returned has been called before. */
export function whenAborted(signal: CancelSignal, listener: () => void): () => void {
  const listeners = listening.get(signal) ?? listenTo(signal)
  // Each time one of its own: who listens twice is called twice.
  const own = () => listener()
  listeners.add(own)
  return () => listeners.delete(own)
}

function listenTo(signal: CancelSignal): Set<() => void> {
  const listeners = new Set<() => void>()
  listening.set(signal, listeners)
  signal.addEventListener(
    'abort',
    () => {
      for (const listener of listeners) listener()
      listeners.clear()
    },
    { once: true },
  )
  return listeners
}
