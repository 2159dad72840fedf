import { emptyDocument, exchange, type ErrorField, type TimestampPair } from './exchange.js'

/** The generation of a collection: epoch as hex, and since 5.0 the timestamp. */
export type GenerationTuple = readonly [epoch: string, seconds: number, increment: number]

const generation: GenerationTuple = ['0123456789abcdef01234567', 1, 2]

export const chunkExchanges = {
  /** The owner of the chunk splits it, then refreshes its placement. */
  'shard.split-chunk': exchange<
    { ns: string; generation: GenerationTuple; min: Uint8Array; max: Uint8Array; splitPoints: readonly Uint8Array[] },
    { error: ErrorField }
  >(
    { ns: 'test.c', generation, min: emptyDocument, max: emptyDocument, splitPoints: [emptyDocument] },
    { error: null },
  ),
  'shard.merge-chunks': exchange<
    { ns: string; generation: GenerationTuple; min: Uint8Array; max: Uint8Array },
    { error: ErrorField }
  >({ ns: 'test.c', generation, min: emptyDocument, max: emptyDocument }, { error: null }),
  'shard.refresh-collection': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /**
   * From a secondary to its primary, which refreshes the placement of a collection or a database
   * and waits for the end of critical sections that block reads. `appliedTs`: of its newest entry
   * then. Server: _flushRoutingTableCacheUpdates, _flushDatabaseCacheUpdates.
   */
  'shard.flush-placement': exchange<{ name: string }, { appliedTs: TimestampPair; error: ErrorField }>(
    { name: 'test.c' },
    { appliedTs: [1, 1], error: null },
  ),
  /**
   * `key`: `{ field: value, … }`. `chunk`: a config.chunks document; null: no such collection or
   * chunk.
   */
  'config.find-chunk': exchange<{ ns: string; key: Uint8Array }, { chunk: Uint8Array | null }>(
    { ns: 'test.c', key: emptyDocument },
    { chunk: emptyDocument },
  ),
  /** `splitPoints`: ascending. */
  'config.commit-chunk-split': exchange<
    {
      ns: string
      generation: GenerationTuple
      min: Uint8Array
      max: Uint8Array
      splitPoints: readonly Uint8Array[]
      shard: string
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      generation,
      min: emptyDocument,
      max: emptyDocument,
      splitPoints: [emptyDocument],
      shard: 'shard01',
    },
    { error: null },
  ),
  /** No effect when `[min, max)` is one chunk already. */
  'config.commit-chunks-merge': exchange<
    {
      ns: string
      generation: GenerationTuple
      min: Uint8Array
      max: Uint8Array
      shard: string
      /** The cluster time of the shard's request. */
      validAfter: TimestampPair
    },
    { error: ErrorField }
  >(
    { ns: 'test.c', generation, min: emptyDocument, max: emptyDocument, shard: 'shard01', validAfter: [1, 1] },
    { error: null },
  ),
  /** Merges every mergeable run of chunks. `chunksMax`: limit of all runs together; null: none. */
  'config.commit-merge-all-chunks': exchange<
    { ns: string; shard: string; chunksMax: number | null },
    { chunksMerged: number; error: ErrorField }
  >({ ns: 'test.c', shard: 'shard01', chunksMax: 10 }, { chunksMerged: 2, error: null }),
  'config.clear-jumbo-flag': exchange<
    { ns: string; epoch: string; min: Uint8Array; max: Uint8Array },
    { error: ErrorField }
  >({ ns: 'test.c', epoch: '0123456789abcdef01234567', min: emptyDocument, max: emptyDocument }, { error: null }),
}
