/** Where one statement of a write batch has to go. */
import type { CommandError } from '@shardlab/bson'

export interface StatementBounds {
  readonly chunks: number
  readonly bounds: readonly (readonly [low: Uint8Array, high: Uint8Array])[]
}

export type StatementTarget =
  /** To one shard; statements for the same shard travel together. */
  | ({ readonly kind: 'one'; readonly shard: string } & StatementBounds)
  /** To several shards at once. `ignored`: without regard to placement, as multi-writes go. */
  | ({
      readonly kind: 'all'
      readonly shards: readonly string[]
      readonly version: 'placement' | 'ignored'
    } & StatementBounds)
  /** To one shard after the other until one of them has the document. `search`: a matching document is looked for first. */
  | ({
      readonly kind: 'first-match'
      readonly shards: readonly string[]
      readonly search: boolean
      readonly upsert: boolean
    } & StatementBounds)
  | { readonly kind: 'failed'; readonly error: CommandError }
