import type { CommandError } from '@shardlab/bson'

export interface StatementBounds {
  /** Every shard that owns chunks has to be asked, or every shard is. */
  readonly isBroadcast: boolean
  readonly chunks: number
  readonly bounds: readonly (readonly [low: Uint8Array, high: Uint8Array])[]
}

export type StatementTarget =
  /** Statements for the same shard are sent together. */
  | ({ readonly kind: 'one'; readonly shard: string } & StatementBounds)
  /**
   * All shards at once, which ignore the router's placement. `owners`: those of the ranges that may
   * hold matching documents.
   */
  | ({ readonly kind: 'all'; readonly shards: readonly string[]; readonly owners: readonly string[] } & StatementBounds)
  /**
   * One shard after the other until one matches. `search`: search for a matching document first.
   */
  | ({
      readonly kind: 'first-match'
      readonly shards: readonly string[]
      readonly search: boolean
      readonly upsert: boolean
    } & StatementBounds)
  | { readonly kind: 'failed'; readonly error: CommandError }
