import { setMaxListeners } from 'node:events'
import { Cancellation, type CancelSignal } from '@shardlab/actor'

/** Who listens to each signal of the platform: one listener for all of them, since each costs more to add and to take away than a message. */
const listening = new WeakMap<CancelSignal, Set<() => void>>()

/** Calls `listener` when the signal aborts, unless the function that is returned has been called before. */
export function whenAborted(signal: CancelSignal, listener: () => void): () => void {
  if (signal instanceof Cancellation) {
    signal.addEventListener('abort', listener)
    return () => signal.removeEventListener('abort', listener)
  }
  const listeners = listening.get(signal) ?? listenTo(signal)
  // Each time one of its own: who listens twice is called twice.
  const own = () => listener()
  listeners.add(own)
  return () => listeners.delete(own)
}

function listenTo(signal: CancelSignal): Set<() => void> {
  const listeners = new Set<() => void>()
  listening.set(signal, listeners)
  // One signal may end everything that a member waits for, and others listen to it as well: no number of listeners is too many.
  if (signal instanceof AbortSignal) setMaxListeners(0, signal)
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
