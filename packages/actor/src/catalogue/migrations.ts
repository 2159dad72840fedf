import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField, type TimestampPair } from './exchange.js'

const version: PlacementVersionTuple = ['0123456789abcdef01234567', 1, 2, 3, 4]

export type MigrationDecision = 'committed' | 'aborted'

export type MigrationStage = 'started' | 'cloned' | 'critical-section' | MigrationDecision

/** Server: MigrationDestinationManager::State. */
export type RecipientState = 'ready' | 'clone' | 'catchup' | 'steady' | 'commitStart' | 'done' | 'fail' | 'abort'

/** Documents and bytes of the clone, changes during catch-up, changes after it. */
export type RecipientCounts = readonly [cloned: number, clonedBytes: number, catchup: number, steady: number]

/** `migrationId`: a UUID of 16 bytes. */
export const migrationExchanges = {
  /**
   * Sent by a router or the balancer; answered when the migration has ended. `min` or `max` null:
   * the donor chooses that bound by size. Server: _configsvrMoveRange.
   */
  'config.move-range': exchange<
    {
      ns: string
      min: Uint8Array | null
      max: Uint8Array | null
      to: string
      forceJumbo: boolean
      waitForDelete: boolean
      /** See `shard.receive-range`. */
      secondaryThrottle: Uint8Array | null
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      min: emptyDocument,
      max: emptyDocument,
      to: 'shard02',
      forceJumbo: false,
      waitForDelete: false,
      secondaryThrottle: null,
    },
    { error: null },
  ),
  /**
   * Config server to donor. Equal requests join the running migration. Server: _shardsvrMoveRange.
   */
  'shard.move-range': exchange<
    {
      ns: string
      min: Uint8Array | null
      max: Uint8Array | null
      to: string
      /** The chunk of the range, as the config server has it. */
      chunkMin: Uint8Array
      chunkMax: Uint8Array
      chunkVersion: PlacementVersionTuple
      maxChunkSizeBytes: number
      forceJumbo: boolean
      waitForDelete: boolean
      secondaryThrottle: Uint8Array | null
      /** To be sent with the commit. */
      plannedAt: TimestampPair
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      min: emptyDocument,
      max: emptyDocument,
      to: 'shard02',
      chunkMin: emptyDocument,
      chunkMax: emptyDocument,
      chunkVersion: version,
      maxChunkSizeBytes: 134217728,
      forceJumbo: false,
      waitForDelete: false,
      secondaryThrottle: null,
      plannedAt: [1, 1],
    },
    { error: null },
  ),
  /**
   * Donor to recipient. Operations that the recipient then serves are later than `clusterTime`, at
   * which the donor's secondaries learn of the migration. `secondaryThrottle`: the write concern of
   * each cloned batch; empty: one other member, null: none. Server: _recvChunkStart.
   */
  'shard.receive-range': exchange<
    {
      migrationId: Uint8Array
      donor: string
      ns: string
      uuid: Uint8Array
      options: Uint8Array
      indexes: readonly Uint8Array[]
      keyPattern: Uint8Array
      min: Uint8Array
      max: Uint8Array
      secondaryThrottle: Uint8Array | null
      clusterTime: TimestampPair
    },
    { error: ErrorField }
  >(
    {
      migrationId: new Uint8Array(16),
      donor: 'shard01',
      ns: 'test.c',
      uuid: new Uint8Array(16),
      options: emptyDocument,
      indexes: [emptyDocument],
      keyPattern: emptyDocument,
      min: emptyDocument,
      max: emptyDocument,
      secondaryThrottle: null,
      clusterTime: [1, 1],
    },
    { error: null },
  ),
  /**
   * Donor to recipient; answered when the recipient has caught up or ended, or after a time-out.
   * Server: _recvChunkStatus with `waitForSteadyOrDone`.
   */
  'shard.receive-status': exchange<
    { migrationId: Uint8Array },
    { state: RecipientState; counts: RecipientCounts; reason: ErrorField; error: ErrorField }
  >({ migrationId: new Uint8Array(16) }, { state: 'steady', counts: [1, 40, 0, 0], reason: null, error: null }),
  /**
   * Donor to recipient: writes are blocked, fetch the last changes. Answered when all are on the
   * recipient's disk, with a time that is not earlier than those of their entries there. Server:
   * _recvChunkCommit.
   */
  'shard.receive-commit': exchange<
    { migrationId: Uint8Array },
    { counts: RecipientCounts; clusterTime: TimestampPair; error: ErrorField }
  >({ migrationId: new Uint8Array(16) }, { counts: [1, 40, 0, 0], clusterTime: [1, 1], error: null }),
  /**
   * Recipient to donor: fetch at most `documentsMax` documents; 0: any number. Batches are numbered
   * from 0, and the last one can be requested again. `last`: there are no more. `sizes`: the ranges
   * of a measured collection, six doubles for each; null: the collection has documents. Server:
   * _migrateClone.
   */
  'shard.migrate-clone': exchange<
    { migrationId: Uint8Array; batch: number; documentsMax: number },
    { documents: readonly Uint8Array[]; sizes: Uint8Array | null; last: boolean; error: ErrorField }
  >(
    { migrationId: new Uint8Array(16), batch: 0, documentsMax: 0 },
    { documents: [emptyDocument], sizes: new Uint8Array(48), last: true, error: null },
  ),
  /**
   * Recipient to donor: fetch the changes since the last batch; numbered like clone batches.
   * `deleted`: documents `{ _id }`. `reloaded`: whole documents. `sessions`: executed statements of
   * retryable writes in the node's format; null: none. `sizes`: growth of the ranges of a measured
   * collection, as in `shard.migrate-clone`. Server: _transferMods, _getNextSessionMods.
   */
  'shard.transfer-mods': exchange<
    { migrationId: Uint8Array; batch: number },
    {
      deleted: readonly Uint8Array[]
      reloaded: readonly Uint8Array[]
      sessions: Uint8Array | null
      sizes: Uint8Array | null
      error: ErrorField
    }
  >(
    { migrationId: new Uint8Array(16), batch: 0 },
    {
      deleted: [emptyDocument],
      reloaded: [emptyDocument],
      sessions: emptyDocument,
      sizes: new Uint8Array(48),
      error: null,
    },
  ),
  /**
   * Donor to recipient, which keeps or deletes the documents that it has received, and stops
   * receiving. Idempotent. Server: _recvChunkAbort, _recvChunkReleaseCritSec and the updates of
   * config.rangeDeletions.
   */
  'shard.apply-migration-decision': exchange<
    { migrationId: Uint8Array; decision: MigrationDecision; clusterTime: TimestampPair },
    { error: ErrorField }
  >({ migrationId: new Uint8Array(16), decision: 'committed', clusterTime: [1, 1] }, { error: null }),
  /**
   * Donor to config server: change the owner of the range, at a time later than `clusterTime`, and
   * not later than that of the reply.
   * Server: _configsvrCommitChunkMigration.
   */
  'config.commit-chunk-migration': exchange<
    {
      ns: string
      min: Uint8Array
      max: Uint8Array
      from: string
      to: string
      chunkVersion: PlacementVersionTuple
      clusterTime: TimestampPair
      /** The commit fails if the recipient has left the cluster since then, even if it is back. */
      plannedAt: TimestampPair
    },
    {
      shardVersion: PlacementVersionTuple
      collectionVersion: PlacementVersionTuple
      clusterTime: TimestampPair
      error: ErrorField
    }
  >(
    {
      ns: 'test.c',
      min: emptyDocument,
      max: emptyDocument,
      from: 'shard01',
      to: 'shard02',
      chunkVersion: version,
      clusterTime: [1, 1],
      plannedAt: [1, 1],
    },
    { shardVersion: version, collectionVersion: version, clusterTime: [1, 1], error: null },
  ),
  /**
   * Donor to config server: refuse every later commit of a migration that began with this version
   * of the chunk. The reply has the current name of the collection, or the given one when no
   * collection has that UUID. Server: _configsvrEnsureChunkVersionIsGreaterThan.
   */
  'config.ensure-chunk-version-is-greater-than': exchange<
    { ns: string; uuid: Uint8Array; min: Uint8Array; max: Uint8Array; version: PlacementVersionTuple },
    { ns: string; error: ErrorField }
  >(
    { ns: 'test.c', uuid: new Uint8Array(16), min: emptyDocument, max: emptyDocument, version },
    { ns: 'test.c', error: null },
  ),
}
