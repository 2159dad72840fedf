import type { ClusterEvent } from '@shardlab/actor'

/** Hands events to listeners, in the order in which they came. */
export class EventHub {
  readonly #listeners = new Set<(event: ClusterEvent) => void>()

  listen(listener: (event: ClusterEvent) => void): () => void {
    const entry = (event: ClusterEvent) => listener(event)
    this.#listeners.add(entry)
    return () => this.#listeners.delete(entry)
  }

  readonly emit = (event: ClusterEvent): void => {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        // Not here: an actor may be below us on the stack, and it would be blamed for it.
        setImmediate(() => {
          throw error
        })
      }
    }
  }
}
