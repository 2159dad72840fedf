/** Where a mongos sends operations; units as in `events.ts`. */
import type { Address } from './address.js'

/**
 * An operation that a mongos routed to shards. `bounds`: relaxed Extended JSON texts `[min, max]`
 * in shard key space.
 */
export interface RoutedEvent {
  readonly type: 'routed'
  readonly atMs: number
  readonly mongos: Address
  readonly opId: number
  /** Of the client at this router, as `connectionId` of its hello. */
  readonly connectionId: number
  readonly ns: string
  readonly command: string
  /** Relaxed Extended JSON; null: an unsharded collection. */
  readonly shardKey: string | null
  /**
   * `targeted`, `multi`: the shard key led to one shard, or to several. `broadcast`: every shard
   * that owns chunks was asked, even if that is one. Unsharded: `targeted`.
   */
  readonly kind: 'targeted' | 'multi' | 'broadcast'
  readonly shards: readonly string[]
  /** The number of chunks that the bounds hit; 0 for an unsharded collection. */
  readonly chunks: number
  readonly bounds: readonly (readonly [string, string])[]
  readonly durationMs: number
}

/**
 * The operations that a mongos has routed since its last event of this type, about twice a second.
 * Emitted only while someone watches, and not without operations. Faults of the clock do not
 * concern its times.
 */
export interface OperationsEvent {
  readonly type: 'operations'
  /** When the last of them ended. */
  readonly atMs: number
  readonly mongos: Address
  /** When the first of them ended. */
  readonly fromMs: number
  /** Up to 100; those beyond are in entries with the namespace `''`, by command and kind. */
  readonly shapes: readonly OperationShape[]
  /** How many operations each shard was asked for. */
  readonly shards: readonly (readonly [shard: string, operations: number])[]
  /**
   * Operations by the chunks that their bounds hit, up to 500; broadcasts do not count. `first` and
   * `last` are lower bounds of chunks: KeyStrings as hexadecimal digits. An operation with several
   * bounds counts for each of them in equal parts.
   */
  readonly chunks: readonly OperationsOfChunks[]
  /** At most ten, chosen at random. */
  readonly samples: readonly RoutedOperation[]
}

export type OperationsOfChunks = readonly [ns: string, first: string, last: string, operations: number]

/** Operations with the same command, collection, shape and kind of routing. */
export interface OperationShape {
  readonly ns: string
  readonly command: string
  /**
   * Relaxed Extended JSON: the filter with types instead of values; of writes that of the first
   * statement. Of aggregate `{ pipeline }`: a leading `$match`, and the names of the other stages.
   * Empty: there is no filter.
   */
  readonly shape: string
  /** null: they failed, and their shards are unknown. */
  readonly kind: RoutedEvent['kind'] | null
  readonly operations: number
  /** Of them, those with an error: see {@link RoutedOperation}. */
  readonly failed: number
  readonly durationMs: number
  readonly slowest: RoutedOperation
}

export interface RoutedOperation extends Omit<RoutedEvent, 'type' | 'kind'> {
  readonly kind: RoutedEvent['kind'] | null
  readonly shape: string
  /** Replies of shards that reported stale routing; the router then repeated the operation. */
  readonly staleReplies: number
  /**
   * Code name of the failure, also of the first failed statement of a write, or of its write
   * concern; null: it succeeded.
   */
  readonly error: string | null
}
