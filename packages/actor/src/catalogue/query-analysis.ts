import type { DatabaseVersionTuple, ShardVersionField } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

/** A collection, the shard key that is looked at, and the placement that the router believes in. */
export interface KeyAnalysis {
  readonly ns: string
  readonly key: Uint8Array
  readonly shardVersion: ShardVersionField
  readonly databaseVersion: DatabaseVersionTuple | null
}

/** Parameters that the shard has which is asked first: the analysis is made by them. */
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

/** Requests about the sampling of queries and the analysis of shard keys. */
export const queryAnalysisExchanges = {
  /**
   * Switches the sampling of a collection in config.queryAnalyzers. `configuration`: `{ mode, samplesPerSecond }` as the client gave it;
   * `oldConfiguration`: the one that it replaced, null when there was none for this collection.
   */
  'config.configure-query-analyzer': exchange<
    { ns: string; uuid: Uint8Array; configuration: Uint8Array },
    { oldConfiguration: Uint8Array | null; error: ErrorField }
  >(
    { ns: 'test.c', uuid: new Uint8Array(16), configuration: emptyDocument },
    { oldConfiguration: emptyDocument, error: null },
  ),
  /**
   * A member that samples says how many queries it has served per second, `{ numQueriesExecutedPerSecond }`, and gets what it may sample:
   * one `{ ns, collectionUuid, samplesPerSecond, startTime }` for each collection, with its share of the rate.
   */
  'config.refresh-query-analyzer': exchange<
    { name: string; statistics: Uint8Array },
    { configurations: readonly Uint8Array[]; error: ErrorField }
  >({ name: '127.0.0.1:27017', statistics: emptyDocument }, { configurations: [emptyDocument], error: null }),
  /** Forgets the sampling of collections that are dropped or get another name. */
  'config.remove-query-analyzers': exchange<{ namespaces: readonly string[] }, { error: ErrorField }>(
    { namespaces: ['test.c'] },
    { error: null },
  ),
  /** The database's primary shard validates the collection and has the config server switch its sampling. */
  'shard.configure-query-analyzer': exchange<
    { ns: string; configuration: Uint8Array; databaseVersion: DatabaseVersionTuple },
    { oldConfiguration: Uint8Array | null; error: ErrorField }
  >(
    { ns: 'test.c', configuration: emptyDocument, databaseVersion: ['00112233445566778899aabbccddeeff', 1, 2, 1] },
    { oldConfiguration: emptyDocument, error: null },
  ),
  /** A query that a router has sampled, for the shard to keep: `cmd` as config.sampledQueries has it. */
  'shard.add-sampled-query': exchange<{ sampleId: Uint8Array; ns: string; cmdName: string; cmd: Uint8Array }, Empty>(
    { sampleId: new Uint8Array(16), ns: 'test.c', cmdName: 'find', cmd: emptyDocument },
    {},
  ),
  /** Can the collection be analysed? */
  'shard.check-analysis': exchange<KeyAnalysis, AnalysisParameters & { error: ErrorField }>(analysis, {
    defaultSampleSize: 10_000_000,
    mostCommonValueCount: 5,
    rangeCount: 100,
    samplesPerRange: 10,
    error: null,
  }),
  /**
   * The index that supports the key, and what this shard's records say about monotonicity. `sampling`: `{ sampleRate }` or `{ sampleSize }`.
   * `index` null: no index supports the key; `monotonicity`: `{ recordIdCorrelationCoefficient, type }`.
   */
  'shard.describe-key': exchange<
    KeyAnalysis & { sampling: Uint8Array },
    { index: string | null; isUnique: boolean; monotonicity: Uint8Array | null; error: ErrorField }
  >(
    { ...analysis, sampling: emptyDocument },
    { index: 'a_1', isUnique: false, monotonicity: emptyDocument, error: null },
  ),
  /** Size of this shard's copy, orphans included. */
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
   * How often each value of the key occurs here, in the order of the index: `keys` are KeyStrings as hexadecimal text, `frequencies` beside
   * them. `after`: the last one of the page before, null for the first page. `sampling`: `{ rate }`, the share of the documents that count.
   */
  'shard.count-key-values': exchange<
    KeyAnalysis & { index: string; after: string | null; sampling: Uint8Array },
    { keys: readonly string[]; frequencies: readonly number[]; done: boolean; error: ErrorField }
  >(
    { ...analysis, index: 'a_1', after: '2d01', sampling: emptyDocument },
    { keys: ['2d02'], frequencies: [1], done: true, error: null },
  ),
  /** Values of the key: of the documents with these KeyStrings, or with `keys` null of the first `limit` documents. A value that is gone is null. */
  'shard.key-values': exchange<
    KeyAnalysis & { index: string | null; keys: readonly string[] | null; limit: number },
    { values: readonly (Uint8Array | null)[]; error: ErrorField }
  >({ ...analysis, index: 'a_1', keys: ['2d02'], limit: 5 }, { values: [emptyDocument, null], error: null }),
  /** Keys of random documents that this shard owns, each with a random number: the smallest ones of all shards are a sample of the collection. */
  'shard.sample-keys': exchange<
    KeyAnalysis & { size: number },
    { keys: readonly Uint8Array[]; draws: readonly number[]; error: ErrorField }
  >({ ...analysis, size: 1000 }, { keys: [emptyDocument], draws: [7], error: null }),
  /**
   * How this shard's sampled queries would spread over the ranges between the split points. `analyzeShardKeyId` not null: keep the split
   * points for a while, as documents. The counters are `{ readDistribution, writeDistribution }`.
   */
  'shard.distribute-queries': exchange<
    KeyAnalysis & { splitPoints: readonly Uint8Array[]; analyzeShardKeyId: Uint8Array | null },
    { counters: Uint8Array | null; error: ErrorField }
  >(
    { ...analysis, splitPoints: [emptyDocument], analyzeShardKeyId: new Uint8Array(16) },
    { counters: emptyDocument, error: null },
  ),
}
