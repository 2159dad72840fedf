import type { DatabaseVersionTuple, NodeCommand, PrimaryMove } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

export const shardExchanges = {
  /**
   * The database's primary shard validates the command, builds the supporting index, creates the
   * collection on the shards that get chunks, and commits on the config server. `body`: the
   * client's command.
   */
  'shard.create-sharded-collection': exchange<
    { ns: string; body: Uint8Array; databaseVersion: DatabaseVersionTuple },
    { uuid: Uint8Array; error: ErrorField }
  >({ ns: 'test.c', body: emptyDocument, databaseVersion: ['00', 1, 1, 1] }, { uuid: new Uint8Array(16), error: null }),
  /**
   * The same on the shard that has the collection, when it is not the primary shard. `primary`: the
   * primary shard, which blocks changes of the collection.
   */
  'shard.shard-collection-here': exchange<
    { ns: string; body: Uint8Array; primary: string; databaseUuid: string },
    { uuid: Uint8Array; error: ErrorField }
  >(
    { ns: 'test.c', body: emptyDocument, primary: 'shard01', databaseUuid: '00' },
    { uuid: new Uint8Array(16), error: null },
  ),
  /** No effect when the collection exists. `move` null: it is no copy for a movePrimary. */
  'shard.create-local-collection': exchange<
    { ns: string; uuid: Uint8Array; options: Uint8Array; indexes: readonly Uint8Array[]; move: PrimaryMove | null },
    { error: ErrorField }
  >(
    {
      ...{ ns: 'test.c', uuid: new Uint8Array(16), options: emptyDocument, indexes: [emptyDocument] },
      move: ['shard01', 1, 1],
    },
    { error: null },
  ),
  /**
   * The database's primary shard drops the collection on all shards, catalog first, then data.
   * `indexCount` null: it was a view.
   */
  'shard.drop-collection': exchange<
    { ns: string; collectionUuid: Uint8Array | null; databaseVersion: DatabaseVersionTuple },
    { existed: boolean; indexCount: number | null; error: ErrorField }
  >(
    { ns: 'test.c', collectionUuid: new Uint8Array(16), databaseVersion: ['00', 1, 1, 1] },
    { existed: true, indexCount: 1, error: null },
  ),
  /**
   * The database's primary shard locks the collection, and its owners run the client's collMod or
   * dropIndexes. `answers`: their replies; an error for a member that did not reply. Server:
   * _shardsvrCollMod, _shardsvrDropIndexes.
   */
  'shard.change-definition': exchange<
    {
      ns: string
      command: 'collMod' | 'dropIndexes'
      body: Uint8Array
      sequences: NodeCommand['sequences']
      databaseVersion: DatabaseVersionTuple
    },
    { sharded: boolean; answers: readonly (readonly [member: string, body: Uint8Array])[]; error: ErrorField }
  >(
    {
      ns: 'test.c',
      command: 'collMod',
      body: emptyDocument,
      sequences: [['documents', [emptyDocument]]],
      databaseVersion: ['00', 1, 1, 1],
    },
    { sharded: true, answers: [['shard01', emptyDocument]], error: null },
  ),
  /** Also drops the shard's cached placement. */
  'shard.drop-local-collection': exchange<{ ns: string }, { existed: boolean; indexCount: number }>(
    { ns: 'test.c' },
    { existed: true, indexCount: 1 },
  ),
  /** The primary shard of the source database renames on all shards. */
  'shard.rename-collection': exchange<
    {
      ns: string
      to: string
      dropTarget: boolean
      collectionUuid: Uint8Array | null
      databaseVersion: DatabaseVersionTuple
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      to: 'test.d',
      dropTarget: false,
      collectionUuid: new Uint8Array(16),
      databaseVersion: ['00', 1, 1, 1],
    },
    { error: null },
  ),
  /** Renames the local copy with this UUID, and drops another collection named `to`. */
  'shard.rename-local-collection': exchange<{ ns: string; to: string; uuid: Uint8Array }, Empty>(
    { ns: 'test.c', to: 'test.d', uuid: new Uint8Array(16) },
    {},
  ),
  'shard.drop-database': exchange<{ db: string; databaseVersion: DatabaseVersionTuple }, { error: ErrorField }>(
    { db: 'test', databaseVersion: ['00', 1, 1, 1] },
    { error: null },
  ),
  /**
   * The old primary shard of a movePrimary: the new one holds the lock of the database until its
   * release. Server: _shardsvrMovePrimaryEnterCriticalSection and its counterpart for the exit.
   */
  'shard.hold-database': exchange<{ db: string; move: PrimaryMove }, { error: ErrorField }>(
    { db: 'test', move: ['shard01', 1, 1] },
    { error: null },
  ),
  /** `dropped`: copies, if the move does not commit. */
  'shard.release-database': exchange<{ db: string; move: PrimaryMove; dropped: readonly string[] }, Empty>(
    { db: 'test', move: ['shard01', 1, 1], dropped: ['test.c'] },
    {},
  ),
  'shard.drop-local-database': exchange<{ db: string }, Empty>({ db: 'test' }, {}),
  /** Bytes of documents. The config server chooses the primary shard of a new database by it. */
  'shard.data-size': exchange<Empty, { sizeBytes: number }>({}, { sizeBytes: 1 }),
  /** Gives a member its identity in a cluster, which it keeps for ever. */
  'shard.initialise': exchange<{ clusterId: Uint8Array; shardName: string; configHost: string }, { error: ErrorField }>(
    { clusterId: new Uint8Array(12), shardName: 'shard01', configHost: 'config/127.0.0.1:5000' },
    { error: null },
  ),
}
