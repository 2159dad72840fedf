import type { ClusterEvent } from '@shardlab/actor'
import { defaultWatched, type Runtime } from '@shardlab/runtime'

/** Events of operations. Members build them only while someone watches. */
export const costlyEvents = ['routed', 'operations'] as const satisfies readonly ClusterEvent['type'][]
export type CostlyEvent = (typeof costlyEvents)[number]

export class WatchedEvents {
  readonly #runtime: Pick<Runtime, 'watch'>
  readonly #watchers = new Map<object, readonly CostlyEvent[]>()
  #watched = ''

  constructor(runtime: Pick<Runtime, 'watch'>) {
    this.#runtime = runtime
  }

  /** Replaces what this watcher watches. */
  set(watcher: object, types: readonly CostlyEvent[]): void {
    if (types.length === 0) this.#watchers.delete(watcher)
    else this.#watchers.set(watcher, types)
    const wanted = costlyEvents.filter((type) => [...this.#watchers.values()].some((each) => each.includes(type)))
    // A listener of `once` is counted after each event, and every worker would be told.
    if (wanted.join() === this.#watched) return
    this.#watched = wanted.join()
    this.#runtime.watch([...defaultWatched, ...wanted])
  }
}
