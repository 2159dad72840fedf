import type { RawValue } from '@shardlab/bson'

export interface ForeignRead {
  readonly db: string
  /** Null: the pipeline begins with a source of its own. */
  readonly collection: string | null
  readonly stages: readonly Uint8Array[]
  /** Those of the command and of the enclosing joins. */
  readonly variables: ReadonlyMap<string, RawValue | undefined>
}

/** The position of an unfinished read; opaque to the pipeline. */
export type ForeignCursor = object

export interface ForeignBatch {
  readonly documents: readonly Uint8Array[]
  /** Null: the read is complete. */
  readonly cursor: ForeignCursor | null
}

export interface JoinRequest {
  readonly read: ForeignRead
  /** Null: a new read; else the next batch of the read that returned this cursor. */
  readonly cursor: ForeignCursor | null
}
