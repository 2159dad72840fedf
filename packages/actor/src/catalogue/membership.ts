import type { DatabaseVersionTuple, PrimaryMove } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField, type TimestampPair } from './exchange.js'

export const membershipExchanges = {
  /**
   * The replica set of the member that listens at `host:port`, as a connection to it would show.
   * Of a mongos, or a mongod without a set, its address. Null: no member that runs.
   */
  'cluster.member-at': exchange<{ host: string }, { set: string | null }>(
    { host: '127.0.0.1:5000' },
    { set: 'shard01' },
  ),
  /**
   * Makes a member reachable under the id of its shard as well, which differs from its address.
   * `isFree` false: the name is the address of a member, and nothing has changed.
   */
  'cluster.name-member': exchange<{ member: string; name: string }, { isFree: boolean }>(
    { member: 'rs0', name: 'east' },
    { isFree: true },
  ),
  /**
   * `connectionString`: `set/host:port,…` of a running shard. `name` null: the name of its replica
   * set. `maxSizeMb` 0: no limit. No effect when it has been added already.
   */
  'config.add-shard': exchange<
    { connectionString: string; name: string | null; maxSizeMb: number },
    { shard: string; error: ErrorField }
  >({ connectionString: 'shard01/127.0.0.1:5000', name: 'shard01', maxSizeMb: 0 }, { shard: 'shard01', error: null }),
  /**
   * Starts draining a shard, reports the progress, or removes it once nothing is left. `shard`: id
   * or host.
   */
  'config.remove-shard': exchange<
    { shard: string },
    {
      state: string
      shard: string
      chunks: number
      databases: number
      jumboChunks: number
      databasesToMove: readonly string[]
      /** Unsharded collections in the catalog. */
      collectionsToMove: readonly string[]
      error: ErrorField
    }
  >(
    { shard: 'shard01' },
    {
      state: 'ongoing',
      shard: 'shard01',
      chunks: 1,
      databases: 1,
      jumboChunks: 0,
      databasesToMove: ['test'],
      collectionsToMove: ['test.c'],
      error: null,
    },
  ),
  /**
   * Makes a shard the primary of a database with this version. No effect when it is the primary
   * already.
   */
  'config.commit-move-primary': exchange<
    { db: string; to: string; databaseVersion: DatabaseVersionTuple; plannedAt: TimestampPair },
    { database: Uint8Array | null; error: ErrorField }
  >(
    { db: 'test', to: 'shard02', databaseVersion: ['00', 1, 1, 1], plannedAt: [1, 1] },
    { database: emptyDocument, error: null },
  ),
  /** `checkedAt`: to be sent as `plannedAt` with the commit. */
  'config.check-new-primary': exchange<{ db: string; to: string }, { checkedAt: TimestampPair; error: ErrorField }>(
    { db: 'test', to: 'shard02' },
    { checkedAt: [1, 1], error: null },
  ),
  /** `connectionString`: `set/host:port` of the config server. */
  'config.introduce': exchange<Empty, { connectionString: string }>({}, { connectionString: 'config/127.0.0.1:5000' }),
  'mongos.refresh-shards': exchange<Empty, Empty>({}, {}),
  /** Sent to a set that is to become a shard. The lists of hosts are those of its hello. */
  'shard.introduce': exchange<
    Empty,
    {
      setName: string
      hosts: readonly string[]
      passives: readonly string[]
      arbiters: readonly string[]
      /** Whether clients that name no write concern have majority writes. */
      isImplicitMajority: boolean
      /** Stored by setDefaultRWConcern on the set before it was a shard. Null: none. */
      defaultWriteConcern: Uint8Array | null
      databases: readonly string[]
    }
  >(
    {},
    {
      setName: 'shard01',
      hosts: ['127.0.0.1:5000'],
      passives: [],
      arbiters: [],
      isImplicitMajority: true,
      defaultWriteConcern: null,
      databases: ['test'],
    },
  ),
  /** From the primary of a shard after a change of its set. */
  'config.update-shard-host': exchange<{ setName: string; connectionString: string }, Empty>(
    { setName: 'shard01', connectionString: 'shard01/127.0.0.1:5000,127.0.0.1:5001' },
    {},
  ),
  /**
   * Sent to the database's primary shard, which moves its unsharded collections and views, and its
   * role.
   */
  'shard.move-primary': exchange<
    { db: string; to: string; databaseVersion: DatabaseVersionTuple },
    { error: ErrorField }
  >({ db: 'test', to: 'shard02', databaseVersion: ['00', 1, 1, 1] }, { error: null }),
  'shard.list-local-namespaces': exchange<{ db: string }, { namespaces: readonly string[] }>(
    { db: 'test' },
    { namespaces: ['test.c'] },
  ),
  /** Documents of a collection that moves with its database, in the order of the donor. */
  'shard.receive-documents': exchange<
    { ns: string; uuid: Uint8Array; documents: readonly Uint8Array[]; move: PrimaryMove },
    { error: ErrorField }
  >(
    {
      ...{ ns: 'test.c', uuid: new Uint8Array(16), documents: [emptyDocument] },
      move: ['shard01', 1, 1],
    },
    { error: null },
  ),
}
