/** As the command `chunkSizes` replies: the chunks of a shard that have documents, in key order. */
export interface ChunkSizesOfShard {
  readonly shard: string
  /** Of their bounds, as in the live stream. */
  readonly keys: readonly string[]
  readonly ends: readonly string[]
  readonly documents: readonly number[]
  readonly bytes: readonly number[]
  /** Why they cannot be read; null: they were. */
  readonly error: string | null
}
