import type { ClusterEvent } from '@shardlab/actor'

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
        // Not inside this call: an actor may be on the stack, which the exception would crash.
        setImmediate(() => {
          throw error
        })
      }
    }
  }
}
