import type { DatabaseVersionTuple, ShardVersionField } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

/** `shardVersion` and `databaseVersion`: the placement that the router has assumed. */
export interface KeyAnalysis {
  readonly ns: string
  readonly key: Uint8Array
  readonly shardVersion: ShardVersionField
  readonly databaseVersion: DatabaseVersionTuple | null
}

/** The values of the shard that is asked first apply. */
export interface AnalysisParameters {
  readonly defaultSampleSize: number
  readonly mostCommonValueCount: number
  readonly rangeCount: number
  readonly samplesPerRange: number
}

const analysis: KeyAnalysis = {
  ns: 'test.c',
  key: emptyDocument,
  shardVersion: ['0123456789abcdef01234567', 1, 2, 3, 4],
  databaseVersion: ['00112233445566778899aabbccddeeff', 1, 2, 1],
}

export const queryAnalysisExchanges = {
  /**
   * Stored in config.queryAnalyzers. `configuration`: the client's `{ mode, samplesPerSecond }`.
   * `oldConfiguration`: the one that it replaces; null: there was none.
   */
  'config.configure-query-analyzer': exchange<
    { ns: string; uuid: Uint8Array; configuration: Uint8Array },
    { oldConfiguration: Uint8Array | null; error: ErrorField }
  >(
    { ns: 'test.c', uuid: new Uint8Array(16), configuration: emptyDocument },
    { oldConfiguration: emptyDocument, error: null },
  ),
  /**
   * A member that samples queries reports its rate, `{ numQueriesExecutedPerSecond }`, and gets the
   * collections to sample: for each `{ ns, collectionUuid, samplesPerSecond, startTime }`, with the
   * member's share of the sample rate.
   */
  'config.refresh-query-analyzer': exchange<
    { name: string; statistics: Uint8Array },
    { configurations: readonly Uint8Array[]; error: ErrorField }
  >({ name: '127.0.0.1:27017', statistics: emptyDocument }, { configurations: [emptyDocument], error: null }),
  'config.remove-query-analyzers': exchange<{ namespaces: readonly string[] }, { error: ErrorField }>(
    { namespaces: ['test.c'] },
    { error: null },
  ),
  /**
   * The database's primary shard validates the collection, then sends the configuration to the
   * config server.
   */
  'shard.configure-query-analyzer': exchange<
    { ns: string; configuration: Uint8Array; databaseVersion: DatabaseVersionTuple },
    { oldConfiguration: Uint8Array | null; error: ErrorField }
  >(
    { ns: 'test.c', configuration: emptyDocument, databaseVersion: ['00112233445566778899aabbccddeeff', 1, 2, 1] },
    { oldConfiguration: emptyDocument, error: null },
  ),
  /** Stores a query that a router has sampled. `cmd`: in the format of config.sampledQueries. */
  'shard.add-sampled-query': exchange<{ sampleId: Uint8Array; ns: string; cmdName: string; cmd: Uint8Array }, Empty>(
    { sampleId: new Uint8Array(16), ns: 'test.c', cmdName: 'find', cmd: emptyDocument },
    {},
  ),
  'shard.check-analysis': exchange<KeyAnalysis, AnalysisParameters & { error: ErrorField }>(analysis, {
    defaultSampleSize: 10_000_000,
    mostCommonValueCount: 5,
    rangeCount: 100,
    samplesPerRange: 10,
    error: null,
  }),
  /**
   * `sampling`: `{ sampleRate }` or `{ sampleSize }`. `index` null: no index supports the key.
   * `monotonicity`: of the key in this shard's records, `{ recordIdCorrelationCoefficient, type }`.
   */
  'shard.describe-key': exchange<
    KeyAnalysis & { sampling: Uint8Array },
    { index: string | null; isUnique: boolean; monotonicity: Uint8Array | null; error: ErrorField }
  >(
    { ...analysis, sampling: emptyDocument },
    { index: 'a_1', isUnique: false, monotonicity: emptyDocument, error: null },
  ),
  /** This shard's part of the collection, orphans included. */
  'shard.measure-collection': exchange<
    KeyAnalysis,
    { count: number; sizeBytes: number; orphanCount: number; error: ErrorField }
  >(analysis, {
    count: 1,
    sizeBytes: 100,
    orphanCount: 0,
    error: null,
  }),
  /**
   * The frequency of each value of the key on this shard, in index order. `keys`: KeyStrings in
   * hexadecimal. `after`: the last key of the page before; null: the first page. `sampling`:
   * `{ rate }`, the share of the documents that is counted.
   */
  'shard.count-key-values': exchange<
    KeyAnalysis & { index: string; after: string | null; sampling: Uint8Array },
    { keys: readonly string[]; frequencies: readonly number[]; done: boolean; error: ErrorField }
  >(
    { ...analysis, index: 'a_1', after: '2d01', sampling: emptyDocument },
    { keys: ['2d02'], frequencies: [1], done: true, error: null },
  ),
  /**
   * The key's values in documents with these KeyStrings, or with `keys` null in the first `limit`
   * documents. null in `values`: no longer exists.
   */
  'shard.key-values': exchange<
    KeyAnalysis & { index: string | null; keys: readonly string[] | null; limit: number },
    { values: readonly (Uint8Array | null)[]; error: ErrorField }
  >({ ...analysis, index: 'a_1', keys: ['2d02'], limit: 5 }, { values: [emptyDocument, null], error: null }),
  /**
   * Keys of random documents, each with a random number. The smallest numbers of all shards select
   * a sample of the collection.
   */
  'shard.sample-keys': exchange<
    KeyAnalysis & { size: number },
    { keys: readonly Uint8Array[]; draws: readonly number[]; error: ErrorField }
  >({ ...analysis, size: 1000 }, { keys: [emptyDocument], draws: [7], error: null }),
  /**
   * How this shard's sampled queries are distributed over the ranges between the split points, as
   * `{ readDistribution, writeDistribution }`. `analyzeShardKeyId` not null: store the split points
   * for some time, as documents.
   */
  'shard.distribute-queries': exchange<
    KeyAnalysis & { splitPoints: readonly Uint8Array[]; analyzeShardKeyId: Uint8Array | null },
    { counters: Uint8Array | null; error: ErrorField }
  >(
    { ...analysis, splitPoints: [emptyDocument], analyzeShardKeyId: new Uint8Array(16) },
    { counters: emptyDocument, error: null },
  ),
}
