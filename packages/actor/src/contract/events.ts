/**
 * The events of a cluster. `atMs`: milliseconds since the epoch on the clock of the member that
 * emits the event; `durationMs`: milliseconds; `bytes`: of BSON.
 */
import type { Address } from './address.js'
import type { OperationsEvent, RoutedEvent } from './operation-events.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface MemberEvent {
  readonly type: 'member'
  readonly atMs: number
  readonly member: Address
  readonly state: 'started' | 'stopped' | 'crashed'
  /** With `crashed`: the exception; absent: a fault or the command shutdown ended it. */
  readonly error?: string
}

/** A queue, batch, retry or table reached its limit (law 9). */
export interface LimitEvent {
  readonly type: 'limit'
  readonly atMs: number
  readonly member: Address
  readonly limit: string
  readonly value: number
}

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

/** Bounds and points are relaxed Extended JSON texts in shard key space. */
export interface SplitEvent {
  readonly type: 'split'
  readonly atMs: number
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
  readonly points: readonly string[]
}

/** Bounds are relaxed Extended JSON texts in shard key space. */
export interface MergeEvent {
  readonly type: 'merge'
  readonly atMs: number
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
  readonly chunks: number
}

/** A migration reached a stage. Bounds are relaxed Extended JSON texts in shard key space. */
export interface MigrationEvent {
  readonly type: 'migration'
  readonly atMs: number
  /** A UUID as text without dashes. */
  readonly id: string
  readonly ns: string
  readonly from: string
  readonly to: string
  readonly min: string
  readonly max: string
  readonly stage: 'started' | 'cloned' | 'critical-section' | 'committed' | 'aborted'
  /** Received by the recipient so far; 0 before it has cloned, and after a crash of the donor. */
  readonly documents: number
  readonly bytes: number
  /** Since the start of the migration, or since the donor's restart. */
  readonly durationMs: number
}

export interface RangeDeletedEvent {
  readonly type: 'range-deleted'
  readonly atMs: number
  readonly shard: string
  readonly ns: string
  readonly documents: number
  readonly bytes: number
  readonly durationMs: number
}

/** A resharding reached a state. */
export interface ReshardingEvent {
  readonly type: 'resharding'
  readonly atMs: number
  readonly ns: string
  /** The new shard key, as relaxed Extended JSON. */
  readonly key: string
  /** `ended`: after the commit, and no shard blocks the collection any more. */
  readonly state: 'cloning' | 'applying' | 'blocking-writes' | 'committed' | 'ended' | 'aborted'
  /** Since the start of the resharding. */
  readonly durationMs: number
}

/** After each change of a collection on a shard, in simulated clusters with `reportsSizes`. */
export interface CollectionSizeEvent {
  readonly type: 'collection-size'
  readonly atMs: number
  readonly shard: string
  readonly ns: string
  /** Including orphans. */
  readonly documents: number
  readonly bytes: number
  /** As the balancer reads them: orphans count with the average size of a document. */
  readonly ownedBytes: number
  readonly orphans: number
}

/**
 * A chunk that a balancer round split, or failed to split, at the bounds of zones. Bounds and
 * points are relaxed Extended JSON texts.
 */
export interface PlannedSplit {
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
  readonly points: readonly string[]
  /** Null: the chunk was split. */
  readonly error: string | null
}

/**
 * A migration that a balancer round selected. Bounds are relaxed Extended JSON texts in shard key
 * space.
 */
export interface PlannedMigration {
  readonly ns: string
  readonly from: string
  readonly to: string
  readonly min: string
  /** Null: the donor chooses the upper bound. */
  readonly max: string | null
  readonly reason: 'draining' | 'zoneViolation' | 'chunksImbalance' | 'defragment'
  /** A sentence with the facts behind the decision. */
  readonly because: string
  /** `split`, `jumbo`: the chunk was too large to move, and was split, or could not be split. */
  readonly outcome: 'moved' | 'split' | 'jumbo' | 'failed' | 'not-begun'
  /** Null: the range was moved. */
  readonly error: string | null
}

/** A zone that a round left uneven, because no chunk of it can leave the heaviest shard. */
export interface BlockedBalance {
  readonly ns: string
  /** Empty: outside of all zones. */
  readonly zone: string
  readonly heaviest: string
  /** A sentence with the facts. */
  readonly because: string
}

export interface BalancerRoundEvent {
  readonly type: 'balancer-round'
  readonly atMs: number
  readonly round: number
  /** The reason as a sentence; null: this round was not skipped. */
  readonly skipped: string | null
  readonly splits: readonly PlannedSplit[]
  readonly migrations: readonly PlannedMigration[]
  readonly blocked: readonly BlockedBalance[]
  readonly defragmenting: readonly { readonly ns: string; readonly phase: string }[]
  readonly durationMs: number
}

/** The chunk is too large to move and cannot be split. Bounds are relaxed Extended JSON texts. */
export interface JumboEvent {
  readonly type: 'jumbo'
  readonly atMs: number
  readonly ns: string
  readonly shard: string
  readonly min: string
  readonly max: string
}

export interface FaultAppliedEvent {
  readonly type: 'fault-applied'
  readonly atMs: number
  readonly id: string
  /** In the grammar of faults: `crash shard02 for 5s`. */
  readonly fault: string
  /** The members that it names, as chosen now; empty: it names none. */
  readonly members: readonly Address[]
}

/** A member has reached the step of a fault: it is held there, fails, or crashes. */
export interface FaultStruckEvent {
  readonly type: 'fault-struck'
  readonly atMs: number
  readonly id: string
  readonly fault: string
  readonly member: Address
  readonly step: string
}

export interface FaultHealedEvent {
  readonly type: 'fault-healed'
  readonly atMs: number
  readonly id: string
  readonly fault: string
  /** Those of the event `fault-applied`. */
  readonly members: readonly Address[]
}

/** A member of a replica set entered a state, such as `PRIMARY`. */
export interface MemberStateEvent {
  readonly type: 'member-state'
  readonly atMs: number
  readonly member: Address
  readonly set: string
  readonly from: string
  readonly to: string
}

/** An election ended. A dry run is reported only if it was lost. */
export interface ElectionEvent {
  readonly type: 'election'
  readonly atMs: number
  /** The candidate. */
  readonly member: Address
  readonly set: string
  readonly outcome: 'won' | 'lost'
  readonly dryRun: boolean
  /** Why the member ran, in the server's words: `electionTimeout`, `priorityTakeover`, … */
  readonly reason: string
  readonly term: number
  readonly votes: number
  readonly votesNeeded: number
  /** Reasons of members that refused. */
  readonly refusals: readonly string[]
}

/** A primary became a secondary. */
export interface StepDownEvent {
  readonly type: 'step-down'
  readonly atMs: number
  readonly member: Address
  readonly set: string
  /** In which it was primary. */
  readonly term: number
  /**
   * `command`: replSetStepDown, or a fault. `higher-term`: another member runs for election.
   * `lost-majority`: it cannot reach enough members. `reconfig`: it cannot be elected any more.
   */
  readonly reason: 'command' | 'higher-term' | 'lost-majority' | 'reconfig'
}

/** Of the entries that a rollback removed, those of one collection. */
export interface RolledBackNamespace {
  readonly ns: string
  /** Removed entries, without no-ops. */
  readonly entries: number
  /** Documents that were inserted or updated, and are in the file. */
  readonly documents: number
  /** Below the server's dbPath. Null: there are no such documents, or files are switched off. */
  readonly file: string | null
}

/** A member removed entries of its oplog that no other member has. */
export interface RollbackEvent {
  readonly type: 'rollback'
  readonly atMs: number
  readonly member: Address
  readonly set: string
  /** The newest entry that was kept: `[seconds, increment, term]`. */
  readonly to: readonly [seconds: number, increment: number, term: number]
  /** Including no-ops. */
  readonly entries: number
  readonly namespaces: readonly RolledBackNamespace[]
}

/**
 * A member has entries that its sync source does not have, and no entry that both have. It tries
 * again, also with other members, until a rollback succeeds or its disk is replaced. Reported once.
 */
export interface RollbackFailedEvent {
  readonly type: 'rollback-failed'
  readonly atMs: number
  readonly member: Address
  readonly set: string
  readonly source: Address
}

/** The primary found that a member is far behind it, or has caught up. */
export interface ReplicationLagEvent {
  readonly type: 'replication-lag'
  readonly atMs: number
  /** The one that is or was behind. */
  readonly member: Address
  readonly set: string
  readonly primary: Address
  readonly state: 'behind' | 'caught-up'
  /** From the newest entry of the member to the newest entry of the primary. */
  readonly lagMs: number
  /** From the newest entry that a majority has to the newest entry of the primary. */
  readonly commitLagMs: number
}

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
  | OperationsEvent
  | MemberEvent
  | LimitEvent
  | CatalogEvent
  | SplitEvent
  | MergeEvent
  | MigrationEvent
  | RangeDeletedEvent
  | ReshardingEvent
  | CollectionSizeEvent
  | BalancerRoundEvent
  | JumboEvent
  | FaultAppliedEvent
  | FaultStruckEvent
  | FaultHealedEvent
  | MemberStateEvent
  | ElectionEvent
  | StepDownEvent
  | RollbackEvent
  | RollbackFailedEvent
  | ReplicationLagEvent
  | LogEvent
