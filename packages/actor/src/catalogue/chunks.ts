import { emptyDocument, exchange, type ErrorField, type TimestampPair } from './exchange.js'

/** The generation of a collection: epoch as hex, and since 5.0 the timestamp. */
export type GenerationTuple = readonly [epoch: string, seconds: number, increment: number]

const generation: GenerationTuple = ['0123456789abcdef01234567', 1, 2]

/** Splits and merges of chunks: requested from the owning shard, committed on the config server. */
export const chunkExchanges = {
  /** The owner of the chunk `[min, max)` splits it at these keys, and refreshes its placement. */
  'shard.split-chunk': exchange<
    { ns: string; generation: GenerationTuple; min: Uint8Array; max: Uint8Array; splitPoints: readonly Uint8Array[] },
    { error: ErrorField }
  >(
    { ns: 'test.c', generation, min: emptyDocument, max: emptyDocument, splitPoints: [emptyDocument] },
    { error: null },
  ),
  /** The owner of all chunks in `[min, max)` merges them. */
  'shard.merge-chunks': exchange<
    { ns: string; generation: GenerationTuple; min: Uint8Array; max: Uint8Array },
    { error: ErrorField }
  >({ ns: 'test.c', generation, min: emptyDocument, max: emptyDocument }, { error: null }),
  /** The shard refreshes its placement of a collection from the config server now. */
  'shard.refresh-collection': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /**
   * The config.chunks document of the chunk with a shard key `{ field: value, … }`; null: the
   * collection or chunk does not exist.
   */
  'config.find-chunk': exchange<{ ns: string; key: Uint8Array }, { chunk: Uint8Array | null }>(
    { ns: 'test.c', key: emptyDocument },
    { chunk: emptyDocument },
  ),
  /** Splits a chunk of a shard at ascending points. */
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
  /**
   * Merges the chunks that fill `[min, max)` on a shard. No effect when it is one chunk already.
   */
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
  /**
   * Merges all mergeable runs of chunks of a shard. `chunksMax`: at most so many chunks in total;
   * null: any number.
   */
  'config.commit-merge-all-chunks': exchange<
    { ns: string; shard: string; chunksMax: number | null },
    { chunksMerged: number; error: ErrorField }
  >({ ns: 'test.c', shard: 'shard01', chunksMax: 10 }, { chunksMerged: 2, error: null }),
  /** Removes the jumbo flag of the chunk `[min, max)`. */
  'config.clear-jumbo-flag': exchange<
    { ns: string; epoch: string; min: Uint8Array; max: Uint8Array },
    { error: ErrorField }
  >({ ns: 'test.c', epoch: '0123456789abcdef01234567', min: emptyDocument, max: emptyDocument }, { error: null }),
}
