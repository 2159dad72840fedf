import { exchange, type Empty, type TimestampPair } from './exchange.js'
import type { DatabaseVersionTuple, PlacementVersionTuple } from './commands.js'

const emptyDocument = new Uint8Array([5, 0, 0, 0, 0])

/**
 * An error as data: the document `{ ok: 0, errmsg, code, codeName, … }` that a client would get, or null.
 * The receiver raises it where a client is to see it.
 */
export type ErrorField = Uint8Array | null

/** One initial chunk: where it begins and ends (BSON documents) and on which shard. */
export type ChunkAssignment = readonly [min: Uint8Array, max: Uint8Array, shard: string]

/** Requests to the config server: what routers, shards, the balancer and the API ask of the catalog. */
export const configExchanges = {
  /** First contact of the API after the members have started. Repeating it changes nothing. */
  'config.initialise': exchange<
    { clusterId: Uint8Array; shards: readonly (readonly [id: string, host: string])[]; chunkSizeBytes: number },
    Empty
  >({ clusterId: new Uint8Array(12), shards: [['shard01', 'shard01/127.0.0.1:5000']], chunkSizeBytes: 134217728 }, {}),
  /** Every document of config.shards, ordered by id. */
  'config.get-shards': exchange<Empty, { shards: readonly Uint8Array[]; clusterTime: TimestampPair }>(
    {},
    { shards: [emptyDocument], clusterTime: [1, 1] },
  ),
  /** The config.databases document; null when there is none. */
  'config.get-database': exchange<{ db: string }, { database: Uint8Array | null }>({ db: 'test' }, { database: emptyDocument }),
  /**
   * Creates the database, or returns the one there is. `primaryShard` null: the server chooses. `enableSharding`: mark
   * it as one whose collections may be sharded, where the emulated version keeps such a mark.
   */
  'config.create-database': exchange<
    { db: string; primaryShard: string | null; enableSharding: boolean },
    { database: Uint8Array | null; error: ErrorField }
  >({ db: 'test', primaryShard: 'shard01', enableSharding: false }, { database: emptyDocument, error: null }),
  /**
   * Placement of one collection. `since`: the newest version that the asker knows; with the same generation only
   * chunks changed after it come back (`full` false), otherwise all of them. `collection` null: not sharded.
   */
  'config.get-collection': exchange<
    { ns: string; since: PlacementVersionTuple | null },
    { collection: Uint8Array | null; chunks: readonly Uint8Array[]; full: boolean }
  >({ ns: 'test.c', since: ['0123456789abcdef01234567', 1, 2, 3, 4] }, { collection: emptyDocument, chunks: [emptyDocument], full: true }),
  /** Writes the catalog entries of a collection that a shard has just created as sharded. */
  'config.commit-create-collection': exchange<
    {
      ns: string
      uuid: Uint8Array
      key: Uint8Array
      unique: boolean
      defaultCollation: Uint8Array | null
      chunks: readonly ChunkAssignment[]
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      uuid: new Uint8Array(16),
      key: emptyDocument,
      unique: false,
      defaultCollation: null,
      chunks: [[emptyDocument, emptyDocument, 'shard01']],
    },
    { error: null },
  ),
  /** Removes the catalog entries of a collection; nothing happens when they are gone already. */
  'config.commit-drop-collection': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /**
   * Gives a sharded collection another name and a new generation, in the place of what has that name; zones go along. Nothing happens when
   * the collection with this UUID has the name already.
   */
  'config.commit-rename-collection': exchange<{ ns: string; to: string; uuid: Uint8Array }, { error: ErrorField }>(
    { ns: 'test.c', to: 'test.d', uuid: new Uint8Array(16) },
    { error: null },
  ),
  /** Removes the catalog entries of all collections of a database. */
  'config.commit-drop-collections': exchange<{ db: string }, { error: ErrorField }>({ db: 'test' }, { error: null }),
  /** Removes a database and all its collections from the catalog. */
  'config.commit-drop-database': exchange<{ db: string }, { error: ErrorField }>({ db: 'test' }, { error: null }),
  /** Appends to config.changelog. */
  'config.log-change': exchange<{ what: string; ns: string; details: Uint8Array; from: string }, Empty>(
    { what: 'shardCollection.start', ns: 'test.c', details: emptyDocument, from: 'shard01' },
    {},
  ),
  /** A router says that it lives; kept in config.mongos. */
  'config.mongos-ping': exchange<{ host: string; version: string; createdMs: number; upSeconds: number }, { clusterId: Uint8Array }>(
    { host: '127.0.0.1:27017', version: '7.0.31', createdMs: 1, upSeconds: 1 },
    { clusterId: new Uint8Array(12) },
  ),
  /** Switches the balancer in config.settings. */
  'config.set-balancer-mode': exchange<{ mode: string }, { error: ErrorField }>({ mode: 'full' }, { error: null }),
  /** The config.settings document of the balancer; null when there is none. */
  'config.get-balancer-settings': exchange<Empty, { settings: Uint8Array | null }>({}, { settings: emptyDocument }),
}

/** Requests to shards that are no commands of clients. */
export const shardExchanges = {
  /**
   * The database's primary shard runs shardCollection: it validates, makes the supporting index, creates the collection
   * on the shards that get chunks and commits on the config server. `body` is the command of the client.
   */
  'shard.create-sharded-collection': exchange<
    { ns: string; body: Uint8Array; databaseVersion: DatabaseVersionTuple },
    { uuid: Uint8Array; error: ErrorField }
  >({ ns: 'test.c', body: emptyDocument, databaseVersion: ['00', 1, 1, 1] }, { uuid: new Uint8Array(16), error: null }),
  /** Creates the collection with this UUID, these options and indexes, unless it is there. */
  'shard.create-local-collection': exchange<
    { ns: string; uuid: Uint8Array; options: Uint8Array; indexes: readonly Uint8Array[] },
    { error: ErrorField }
  >({ ns: 'test.c', uuid: new Uint8Array(16), options: emptyDocument, indexes: [emptyDocument] }, { error: null }),
  /** The database's primary shard drops a collection everywhere, catalog first, then data; or a view, whose `indexCount` is null. */
  'shard.drop-collection': exchange<
    { ns: string; collectionUuid: Uint8Array | null; databaseVersion: DatabaseVersionTuple },
    { existed: boolean; indexCount: number | null; error: ErrorField }
  >({ ns: 'test.c', collectionUuid: new Uint8Array(16), databaseVersion: ['00', 1, 1, 1] }, { existed: true, indexCount: 1, error: null }),
  /** Drops the local copy of a collection and what the shard knows of its placement. */
  'shard.drop-local-collection': exchange<{ ns: string }, { existed: boolean; indexCount: number }>(
    { ns: 'test.c' },
    { existed: true, indexCount: 1 },
  ),
  /** The source's primary shard gives a collection another name everywhere. */
  'shard.rename-collection': exchange<
    { ns: string; to: string; dropTarget: boolean; collectionUuid: Uint8Array | null; databaseVersion: DatabaseVersionTuple },
    { error: ErrorField }
  >(
    { ns: 'test.c', to: 'test.d', dropTarget: false, collectionUuid: new Uint8Array(16), databaseVersion: ['00', 1, 1, 1] },
    { error: null },
  ),
  /** Gives the local copy with this UUID another name, in the place of what has it; drops what else has that name. */
  'shard.rename-local-collection': exchange<{ ns: string; to: string; uuid: Uint8Array }, Empty>(
    { ns: 'test.c', to: 'test.d', uuid: new Uint8Array(16) },
    {},
  ),
  /** The database's primary shard drops the whole database everywhere. */
  'shard.drop-database': exchange<{ db: string; databaseVersion: DatabaseVersionTuple }, { error: ErrorField }>(
    { db: 'test', databaseVersion: ['00', 1, 1, 1] },
    { error: null },
  ),
  'shard.drop-local-database': exchange<{ db: string }, Empty>({ db: 'test' }, {}),
  /** Total bytes of documents, by which a new database finds its primary shard. */
  'shard.data-size': exchange<Empty, { sizeBytes: number }>({}, { sizeBytes: 1 }),
  /** The shard learns who it is in which cluster. */
  'shard.initialise': exchange<{ clusterId: Uint8Array; configHost: string }, Empty>(
    { clusterId: new Uint8Array(12), configHost: 'config/127.0.0.1:5000' },
    {},
  ),
}

/** Requests to the balancer. */
export const balancerExchanges = {
  'balancer.status': exchange<Empty, { mode: string; inBalancerRound: boolean; numBalancerRounds: number }>(
    {},
    { mode: 'full', inBalancerRound: false, numBalancerRounds: 1 },
  ),
}
