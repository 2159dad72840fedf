import type { ClusterEvent, LogLevel } from '@shardlab/actor'

export type EventType = ClusterEvent['type']

/** Those that operations emit are off until `watch` is called. */
const wantedAtFirst: Readonly<Record<EventType, boolean>> = {
  routed: false,
  operations: false,
  member: true,
  limit: true,
  catalog: true,
  split: true,
  merge: true,
  migration: true,
  'range-deleted': true,
  resharding: true,
  'collection-size': false,
  'balancer-round': true,
  jumbo: true,
  'fault-applied': true,
  'fault-struck': true,
  'fault-healed': true,
  'member-state': true,
  election: true,
  'step-down': true,
  rollback: true,
  'rollback-failed': true,
  'replication-lag': true,
  log: true,
}
const everyType = Object.keys(wantedAtFirst) as readonly EventType[]
const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Delivered before `watch` is called. */
export const defaultWatched: readonly EventType[] = everyType.filter((type) => wantedAtFirst[type])

export class EventSink {
  /** Read on hot paths; {@link watch} changes it in place. */
  readonly wanted: Record<EventType, boolean> = { ...wantedAtFirst }
  readonly #deliver: (event: ClusterEvent) => void
  readonly #leastLevel: number

  /** @param logLevel lines below it are dropped */
  constructor(deliver: (event: ClusterEvent) => void, logLevel: LogLevel) {
    this.#deliver = deliver
    this.#leastLevel = logLevels.indexOf(logLevel)
  }

  /** Type `member` is always delivered: faults of a member are removed when it goes down. */
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
