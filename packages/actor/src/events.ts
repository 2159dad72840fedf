import type { Address } from './address.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One operation that a mongos routed to shards. `bounds` are relaxed Extended JSON texts `[min, max]` in shard key space. */
export interface RoutedEvent {
  readonly type: 'routed'
  readonly atMs: number
  readonly mongos: Address
  readonly opId: number
  readonly ns: string
  readonly command: string
  /** One shard, some shards, or every shard that owns chunks of the collection. */
  readonly kind: 'targeted' | 'multi' | 'broadcast'
  readonly shards: readonly string[]
  /** How many chunks the bounds hit; 0 for an unsharded collection. */
  readonly chunks: number
  readonly bounds: readonly (readonly [string, string])[]
  readonly durationMs: number
}

/** A member came up, went down in order, or died. */
export interface MemberEvent {
  readonly type: 'member'
  readonly atMs: number
  readonly member: Address
  readonly state: 'started' | 'stopped' | 'crashed'
  /** For `crashed`: what killed it; absent when a fault did. */
  readonly error?: string
}

/** A limit of a queue, batch, retry or table was reached (law 9). */
export interface LimitEvent {
  readonly type: 'limit'
  readonly atMs: number
  readonly member: Address
  readonly limit: string
  readonly value: number
}

/** Metadata changed: a database or collection was created, sharded or dropped. */
export interface CatalogEvent {
  readonly type: 'catalog'
  readonly atMs: number
  readonly change: 'database-created' | 'database-dropped' | 'collection-sharded' | 'collection-dropped' | 'collection-renamed'
  readonly ns: string
}

/** One line of an actor's log. */
export interface LogEvent {
  readonly type: 'log'
  readonly atMs: number
  readonly member: Address
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export type ClusterEvent = RoutedEvent | MemberEvent | LimitEvent | CatalogEvent | LogEvent
