import type { ClusterEvent, LogLevel } from '@shardlab/actor'

export type EventType = ClusterEvent['type']

/** Which events are wanted until somebody says otherwise: all but the one for each operation. */
const wantedAtFirst: Readonly<Record<EventType, boolean>> = {
  routed: false,
  member: true,
  limit: true,
  catalog: true,
  split: true,
  merge: true,
  migration: true,
  'range-deleted': true,
  'balancer-round': true,
  jumbo: true,
  'fault-applied': true,
  'fault-healed': true,
  log: true,
}
const everyType = Object.keys(wantedAtFirst) as readonly EventType[]
const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** What is watched until somebody says otherwise. */
export const defaultWatched: readonly EventType[] = everyType.filter((type) => wantedAtFirst[type])

/** Where a host's events go, and which of them anybody wants. */
export class EventSink {
  /** Read on hot paths; changed in place by {@link watch}. */
  readonly wanted: Record<EventType, boolean> = { ...wantedAtFirst }
  readonly #deliver: (event: ClusterEvent) => void
  readonly #leastLevel: number

  /** Log lines below `logLevel` are dropped. */
  constructor(deliver: (event: ClusterEvent) => void, logLevel: LogLevel) {
    this.#deliver = deliver
    this.#leastLevel = logLevels.indexOf(logLevel)
  }

  /** Those of members are always wanted: what is broken in a member ends with it. */
  watch(types: readonly EventType[]): void {
    for (const type of everyType) this.wanted[type] = type === 'member' || types.includes(type)
  }

  emit(event: ClusterEvent): void {
    if (this.wanted[event.type]) this.#deliver(event)
  }

  logs(level: LogLevel): boolean {
    return this.wanted.log && logLevels.indexOf(level) >= this.#leastLevel
  }
}
