import { emptyDocument, exchange, type ErrorField, type TimestampPair } from './exchange.js'

/** The creation of a collection that a request is about: epoch as hex, and from 5.0 on the timestamp. */
export type GenerationTuple = readonly [epoch: string, seconds: number, increment: number]

const generation: GenerationTuple = ['0123456789abcdef01234567', 1, 2]

/** Splits and merges of chunks: asked of the shard that owns them, committed on the config server. */
export const chunkExchanges = {
  /** The owner of the chunk `[min, max)` has it split at these keys, and learns the new placement. */
  'shard.split-chunk': exchange<
    { ns: string; generation: GenerationTuple; min: Uint8Array; max: Uint8Array; splitPoints: readonly Uint8Array[] },
    { error: ErrorField }
  >(
    { ns: 'test.c', generation, min: emptyDocument, max: emptyDocument, splitPoints: [emptyDocument] },
    { error: null },
  ),
  /** The owner of all chunks in `[min, max)` has them made into one. */
  'shard.merge-chunks': exchange<
    { ns: string; generation: GenerationTuple; min: Uint8Array; max: Uint8Array },
    { error: ErrorField }
  >({ ns: 'test.c', generation, min: emptyDocument, max: emptyDocument }, { error: null }),
  /** The shard asks the config server for the placement of a collection, now. */
  'shard.refresh-collection': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /** The config.chunks document of the chunk that holds a shard key, `{ field: value, … }`; null: there is none, or no such collection. */
  'config.find-chunk': exchange<{ ns: string; key: Uint8Array }, { chunk: Uint8Array | null }>(
    { ns: 'test.c', key: emptyDocument },
    { chunk: emptyDocument },
  ),
  /** Replaces a chunk of a shard by several, ascending split points between them. */
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
  /** Makes one chunk of those that fill `[min, max)` on a shard. Nothing happens when it is one already. */
  'config.commit-chunks-merge': exchange<
    {
      ns: string
      generation: GenerationTuple
      min: Uint8Array
      max: Uint8Array
      shard: string
      /** When the shard asked. */
      validAfter: TimestampPair
    },
    { error: ErrorField }
  >(
    { ns: 'test.c', generation, min: emptyDocument, max: emptyDocument, shard: 'shard01', validAfter: [1, 1] },
    { error: null },
  ),
  /** Merges all runs of chunks of a shard that can be merged; `chunksMax`: of at most so many chunks altogether, null for any number. */
  'config.commit-merge-all-chunks': exchange<
    { ns: string; shard: string; chunksMax: number | null },
    { chunksMerged: number; error: ErrorField }
  >({ ns: 'test.c', shard: 'shard01', chunksMax: 10 }, { chunksMerged: 2, error: null }),
  /** Removes the mark jumbo of the chunk `[min, max)`. */
  'config.clear-jumbo-flag': exchange<
    { ns: string; epoch: string; min: Uint8Array; max: Uint8Array },
    { error: ErrorField }
  >({ ns: 'test.c', epoch: '0123456789abcdef01234567', min: emptyDocument, max: emptyDocument }, { error: null }),
}
