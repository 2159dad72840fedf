/**
 * What whoever watches a cluster hears of. `atMs`: milliseconds since the epoch by the clock of the member that tells; `durationMs`:
 * milliseconds; `bytes`: of BSON.
 */
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
  /** The shard key pattern as relaxed Extended JSON; null for an unsharded collection. */
  readonly shardKey: string | null
  /** By the shard key to one shard, or to several; or to every shard that owns chunks, as nothing says where in the key space to look. */
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
  readonly change:
    | 'database-created'
    | 'database-dropped'
    | 'collection-sharded'
    | 'collection-tracked'
    | 'collection-dropped'
    | 'collection-renamed'
    | 'shard-key-refined'
    | 'collection-resharded'
    | 'primary-moved'
  readonly ns: string
}

/** A chunk became several. Bounds and points are relaxed Extended JSON texts in shard key space. */
export interface SplitEvent {
  readonly type: 'split'
  readonly atMs: number
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
  readonly points: readonly string[]
}

/** Several chunks became one. Bounds are relaxed Extended JSON texts in shard key space. */
export interface MergeEvent {
  readonly type: 'merge'
  readonly atMs: number
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
  /** How many chunks there were. */
  readonly chunks: number
}

/** A stage of a migration was reached. Bounds are relaxed Extended JSON texts in shard key space. */
export interface MigrationEvent {
  readonly type: 'migration'
  readonly atMs: number
  /** UUID of the migration, as text without dashes. */
  readonly id: string
  readonly ns: string
  readonly from: string
  readonly to: string
  readonly min: string
  readonly max: string
  readonly stage: 'started' | 'cloned' | 'critical-section' | 'committed' | 'aborted'
  /** What the recipient had taken over by then; 0 before it has cloned. */
  readonly documents: number
  readonly bytes: number
  /** Since the migration began. */
  readonly durationMs: number
}

/** A shard has deleted the documents of a range that it does not own. */
export interface RangeDeletedEvent {
  readonly type: 'range-deleted'
  readonly atMs: number
  readonly shard: string
  readonly ns: string
  readonly documents: number
  readonly bytes: number
  readonly durationMs: number
}

/** A chunk that a round of the balancer wanted to split at the bounds of zones. Bounds and points are relaxed Extended JSON texts. */
export interface PlannedSplit {
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
  readonly points: readonly string[]
  /** Null: it has been done. */
  readonly error: string | null
}

/** A migration that a round of the balancer decided on. Bounds are relaxed Extended JSON texts in shard key space. */
export interface PlannedMigration {
  readonly ns: string
  readonly from: string
  readonly to: string
  readonly min: string
  /** Null: the donor chooses where the range ends. */
  readonly max: string | null
  readonly reason: 'draining' | 'zoneViolation' | 'chunksImbalance' | 'defragment'
  /** A sentence: what the decision rests on. */
  readonly because: string
  /** `split` and `jumbo`: the chunk was too large, and was split, or could not be. */
  readonly outcome: 'moved' | 'split' | 'jumbo' | 'failed' | 'not-begun'
  /** Null: it has moved. */
  readonly error: string | null
}

/** A round of the balancer has ended. */
export interface BalancerRoundEvent {
  readonly type: 'balancer-round'
  readonly atMs: number
  /** Counted from the start of the balancer. */
  readonly round: number
  /** A sentence: why this round looked at nothing. Null: it did. */
  readonly skipped: string | null
  readonly splits: readonly PlannedSplit[]
  readonly migrations: readonly PlannedMigration[]
  /** Collections whose defragmentation is not over, and the phase that it is in. */
  readonly defragmenting: readonly { readonly ns: string; readonly phase: string }[]
  readonly durationMs: number
}

/** A chunk that is too large to move and cannot be split has been marked as jumbo. Bounds are relaxed Extended JSON texts. */
export interface JumboEvent {
  readonly type: 'jumbo'
  readonly atMs: number
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
}

/** A fault begins. */
export interface FaultAppliedEvent {
  readonly type: 'fault-applied'
  readonly atMs: number
  readonly id: number
  /** As the grammar of faults writes it: `crash shard02 for 5s`. */
  readonly fault: string
  /** The member that it strikes; null: a fault of links, or at a step of any member. */
  readonly target: Address | null
}

/** A fault is over. */
export interface FaultHealedEvent {
  readonly type: 'fault-healed'
  readonly atMs: number
  readonly id: number
  readonly fault: string
  readonly target: Address | null
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

export type ClusterEvent =
  | RoutedEvent
  | MemberEvent
  | LimitEvent
  | CatalogEvent
  | SplitEvent
  | MergeEvent
  | MigrationEvent
  | RangeDeletedEvent
  | BalancerRoundEvent
  | JumboEvent
  | FaultAppliedEvent
  | FaultHealedEvent
  | LogEvent
