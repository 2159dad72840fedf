import type { Attachment } from '../codec/attachment.js'
import type { PackedChunks } from '../payloads/packed-chunks.js'
import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField, type TimestampPair } from './exchange.js'

/**
 * The parameters balancerMigrationsThrottlingMs (null: the version does not have it),
 * chunkDefragmentationThrottlingMS, autoMergerIntervalSecs and autoMergerThrottlingMS.
 */
export type BalancerPausesTuple = readonly [
  migrationsMs: number | null,
  defragmentationMs: number,
  autoMergerIntervalSecs: number,
  autoMergerMs: number,
]

export const configExchanges = {
  /** Sent by the API once the members have started. Idempotent. */
  'config.initialise': exchange<
    { clusterId: Uint8Array; shards: readonly (readonly [id: string, host: string])[]; chunkSizeBytes: number },
    Empty
  >({ clusterId: new Uint8Array(12), shards: [['shard01', 'shard01/127.0.0.1:5000']], chunkSizeBytes: 134217728 }, {}),
  /** The documents of config.shards, ordered by id. */
  'config.get-shards': exchange<Empty, { shards: readonly Uint8Array[]; clusterTime: TimestampPair }>(
    {},
    { shards: [emptyDocument], clusterTime: [1, 1] },
  ),
  /** `database`: the config.databases document; null: it does not exist. */
  'config.get-database': exchange<{ db: string }, { database: Uint8Array | null }>(
    { db: 'test' },
    { database: emptyDocument },
  ),
  /**
   * Returns the database, and creates it first if it does not exist. `primaryShard` null: the
   * config server chooses. `enableSharding`: allow sharding of its collections, in versions that
   * require that.
   */
  'config.create-database': exchange<
    { db: string; primaryShard: string | null; enableSharding: boolean },
    { database: Uint8Array | null; error: ErrorField }
  >({ db: 'test', primaryShard: 'shard01', enableSharding: false }, { database: emptyDocument, error: null }),
  /**
   * `since`: the requester's placement version. Within the same generation the reply has only the
   * chunks that changed after it (`full` false), otherwise all. `collection` null: not sharded.
   * `chunks`: config.chunks documents, or a `TableUpdate` of the package sharding.
   */
  'config.get-collection': exchange<
    { ns: string; since: PlacementVersionTuple | null },
    { collection: Uint8Array | null; chunks: readonly Uint8Array[] | Attachment; full: boolean }
  >(
    { ns: 'test.c', since: ['0123456789abcdef01234567', 1, 2, 3, 4] },
    { collection: emptyDocument, chunks: [emptyDocument], full: true },
  ),
  /**
   * The config.chunks documents, oldest version first. `since` and `full` as in
   * `config.get-collection`. `limit` null: none; otherwise request the rest with the last one's
   * version.
   */
  'config.get-chunks': exchange<
    { ns: string; since: PlacementVersionTuple | null; limit: number | null },
    { collection: Uint8Array | null; chunks: readonly Uint8Array[]; full: boolean }
  >(
    { ns: 'test.c', since: ['0123456789abcdef01234567', 1, 2, 3, 4], limit: 1000 },
    { collection: emptyDocument, chunks: [emptyDocument], full: true },
  ),
  /**
   * Writes the catalog entries of a collection that a shard has just sharded, replacing those of an
   * unsharded one.
   */
  'config.commit-create-collection': exchange<
    {
      ns: string
      uuid: Uint8Array
      key: Uint8Array
      unique: boolean
      defaultCollation: Uint8Array | null
      chunks: PackedChunks
      /** The catalog had the collection as unsharded. The commit fails if that has changed. */
      wasTracked: boolean
      /** The commit fails if the database has another primary shard or UUID. */
      primary: string
      databaseUuid: string
      /** When the shards of the chunks were read. It fails if one of them has left since then. */
      plannedAt: TimestampPair
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      uuid: new Uint8Array(16),
      key: emptyDocument,
      unique: false,
      defaultCollation: null,
      chunks: [emptyDocument, ['shard01'], new Uint8Array(4)],
      wasTracked: false,
      primary: 'shard01',
      databaseUuid: '00',
      plannedAt: [1, 1],
    },
    { error: null },
  ),
  /**
   * Adds an unsharded collection to the catalog, with one chunk on its shard. No effect when this
   * UUID is tracked already. `to`: the shard that it will be moved to.
   */
  'config.track-collection': exchange<
    {
      ns: string
      uuid: Uint8Array
      defaultCollation: Uint8Array | null
      shard: string
      to: string
      databaseUuid: string
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      uuid: new Uint8Array(16),
      defaultCollation: null,
      shard: 'shard01',
      to: 'shard02',
      databaseUuid: '00',
    },
    { error: null },
  ),
  /** Also removes zones of a collection that is not sharded. */
  'config.commit-drop-collection': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /**
   * Renames a sharded collection and its zones, with a new generation; replaces a collection named
   * `to`. No effect when this UUID has the name already.
   */
  'config.commit-rename-collection': exchange<{ ns: string; to: string; uuid: Uint8Array }, { error: ErrorField }>(
    { ns: 'test.c', to: 'test.d', uuid: new Uint8Array(16) },
    { error: null },
  ),
  /** No effect when the database has another UUID. */
  'config.commit-drop-collections': exchange<{ db: string; databaseUuid: string }, { error: ErrorField }>(
    { db: 'test', databaseUuid: '00' },
    { error: null },
  ),
  'config.commit-drop-database': exchange<{ db: string; databaseUuid: string }, { error: ErrorField }>(
    { db: 'test', databaseUuid: '00' },
    { error: null },
  ),
  'config.log-change': exchange<{ what: string; ns: string; details: Uint8Array; from: string }, Empty>(
    { what: 'shardCollection.start', ns: 'test.c', details: emptyDocument, from: 'shard01' },
    {},
  ),
  /**
   * A router's heartbeat, for config.mongos. `concernDefaults`: the cluster-wide read and write
   * concern; null: not set. `chunkSizeBytes`: the cluster's. `querySettings`: the document of
   * config.clusterParameters; null: not set.
   */
  'config.mongos-ping': exchange<
    { host: string; version: string; createdMs: number; upSeconds: number },
    {
      clusterId: Uint8Array
      concernDefaults: Uint8Array | null
      chunkSizeBytes: number
      querySettings: Uint8Array | null
      /** Other bytes after users or roles may have changed. */
      userGeneration: Uint8Array
    }
  >(
    { host: '127.0.0.1:27017', version: '7.0.31', createdMs: 1, upSeconds: 1 },
    {
      clusterId: new Uint8Array(12),
      concernDefaults: emptyDocument,
      chunkSizeBytes: 134217728,
      querySettings: emptyDocument,
      userGeneration: new Uint8Array(16),
    },
  ),
  /** Documents of `admin.system.keys`. The config server creates those that are missing. */
  'config.get-time-keys': exchange<Empty, { keys: readonly Uint8Array[] }>({}, { keys: [emptyDocument] }),
  'config.set-balancer-mode': exchange<{ mode: string }, { error: ErrorField }>({ mode: 'full' }, { error: null }),
  /** `settings`: the balancer's document in config.settings; null: it does not exist. */
  'config.get-balancer-settings': exchange<Empty, { settings: Uint8Array | null; pauses: BalancerPausesTuple }>(
    {},
    { settings: emptyDocument, pauses: [1000, 0, 3600, 15_000] },
  ),
}
