import type { DatabaseVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField, type TimestampPair } from './exchange.js'

/**
 * Server: RecipientState of resharding/common_types.idl; `caught-up` is `applying` with no change
 * left to apply.
 */
export type ReshardingRecipientState =
  | 'creating-collection'
  | 'cloning'
  | 'applying'
  | 'caught-up'
  | 'strict-consistency'
  | 'error'

/**
 * null before 8.0, which has only one. Server: ReshardingProvenance of resharding/common_types.idl.
 */
export type ReshardingProvenance = 'reshardCollection' | 'moveCollection' | 'unshardCollection' | null

export type ReshardingOutcome = 'running' | 'committed' | 'aborted'

const reshardingId = new Uint8Array(16)
const attempt = { reshardingId, attempt: 1 }

export interface ReshardedCollection {
  reshardingId: Uint8Array
  attempt: number
  ns: string
  tempNs: string
  sourceUuid: Uint8Array
  keyPattern: Uint8Array
  provenance: ReshardingProvenance
}
const reshardedCollection = {
  ...attempt,
  ns: 'test.c',
  tempNs: 'test.system.resharding.x',
  sourceUuid: reshardingId,
  keyPattern: emptyDocument,
  provenance: null,
}

/**
 * `reshardingId`: a UUID of 16 bytes, which becomes the collection's. Attempts are numbered; a new
 * one starts from nothing.
 */
export const reshardingExchanges = {
  /**
   * Router to the database's primary shard; answered at the end. `request`: the command. Server:
   * _shardsvrReshardCollection.
   */
  'shard.reshard-collection': exchange<
    { ns: string; request: Uint8Array; collectionUuid: Uint8Array | null; databaseVersion: DatabaseVersionTuple },
    { error: ErrorField }
  >(
    { ns: 'test.c', request: emptyDocument, collectionUuid: new Uint8Array(16), databaseVersion: ['00', 1, 1, 1] },
    { error: null },
  ),
  /**
   * Primary shard to config server. Idempotent. `runningId`: the resharding to wait for, which may
   * be an equal one that was running. `state` `done`: there is nothing to do. Server:
   * _configsvrReshardCollection.
   */
  'config.start-resharding': exchange<
    { reshardingId: Uint8Array; ns: string; request: Uint8Array },
    { state: 'running' | 'done'; runningId: Uint8Array; error: ErrorField }
  >({ reshardingId, ns: 'test.c', request: emptyDocument }, { state: 'running', runningId: reshardingId, error: null }),
  /** Answered when the resharding has ended, or after a time-out. */
  'config.await-resharding': exchange<{ reshardingId: Uint8Array; ns: string }, { ended: boolean; error: ErrorField }>(
    { reshardingId, ns: 'test.c' },
    { ended: true, error: null },
  ),
  /** Answered when nothing is left of the resharding. Server: _configsvrAbortReshardCollection. */
  'config.abort-resharding': exchange<{ ns: string; provenance: ReshardingProvenance }, { error: ErrorField }>(
    { ns: 'test.c', provenance: 'reshardCollection' },
    { error: null },
  ),
  /** The resharding blocks writes at once. Server: _configsvrCommitReshardCollection. */
  'config.commit-resharding': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /**
   * Like an abort, without an error when nothing is being resharded. Server:
   * _configsvrCleanupReshardCollection.
   */
  'config.cleanup-resharding': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  'config.resharding-outcome': exchange<
    { reshardingId: Uint8Array; attempt: number; ns: string },
    { outcome: ReshardingOutcome }
  >({ ...attempt, ns: 'test.c' }, { outcome: 'running' }),
  /**
   * At most `size` random documents that the shard owns, as chunk bounds. Sorted by `weights`, the
   * samples of all shards are a sample of the collection. Server: the `$sample` of
   * SamplingBasedSplitPolicy.
   */
  'shard.sample-shard-keys': exchange<
    { ns: string; uuid: Uint8Array; keyPattern: Uint8Array; size: number },
    { keys: readonly Uint8Array[]; weights: readonly number[]; error: ErrorField }
  >(
    { ns: 'test.c', uuid: reshardingId, keyPattern: emptyDocument, size: 10 },
    { keys: [emptyDocument], weights: [1], error: null },
  ),
  /** Config server to donor, which records changes from now on. */
  'shard.donate-collection': exchange<
    ReshardedCollection & { recipients: readonly string[] },
    { documents: number; bytes: number; options: Uint8Array; indexes: readonly Uint8Array[]; error: ErrorField }
  >(
    { ...reshardedCollection, recipients: ['shard01'] },
    { documents: 1, bytes: 40, options: emptyDocument, indexes: [emptyDocument], error: null },
  ),
  'shard.receive-collection': exchange<
    ReshardedCollection & {
      donors: readonly string[]
      options: Uint8Array
      indexes: readonly Uint8Array[]
      approxDocuments: number
      approxBytes: number
    },
    { error: ErrorField }
  >(
    {
      ...reshardedCollection,
      donors: ['shard01'],
      options: emptyDocument,
      indexes: [emptyDocument],
      approxDocuments: 1,
      approxBytes: 40,
    },
    { error: null },
  ),
  /**
   * A recipient's state; answered when it differs from `known`, or after a time-out. `reason`: the
   * error of state `error`.
   */
  'shard.resharding-status': exchange<
    { reshardingId: Uint8Array; attempt: number; known: ReshardingRecipientState },
    { state: ReshardingRecipientState; reason: ErrorField; error: ErrorField }
  >({ ...attempt, known: 'cloning' }, { state: 'applying', reason: null, error: null }),
  /**
   * Like `shard.migrate-clone`, with the documents for this recipient. An empty batch need not be
   * the last. `sizes`: positions under the new key.
   */
  'shard.resharding-clone': exchange<
    { reshardingId: Uint8Array; attempt: number; recipient: string; batch: number; documentsMax: number },
    { documents: readonly Uint8Array[]; sizes: Uint8Array | null; last: boolean; error: ErrorField }
  >(
    { ...attempt, recipient: 'shard01', batch: 0, documentsMax: 0 },
    { documents: [emptyDocument], sizes: new Uint8Array(64), last: true, error: null },
  ),
  /** Like `shard.transfer-mods`. */
  'shard.resharding-mods': exchange<
    { reshardingId: Uint8Array; attempt: number; recipient: string; batch: number },
    {
      deleted: readonly Uint8Array[]
      reloaded: readonly Uint8Array[]
      sessions: Uint8Array | null
      sizes: Uint8Array | null
      error: ErrorField
    }
  >(
    { ...attempt, recipient: 'shard01', batch: 0 },
    {
      deleted: [emptyDocument],
      reloaded: [emptyDocument],
      sessions: emptyDocument,
      sizes: new Uint8Array(64),
      error: null,
    },
  ),
  /**
   * Blocks writes to the collection on this participant, and with `reads` also reads, until the
   * outcome is applied. No earlier read was later than `clusterTime`.
   */
  'shard.block-for-resharding': exchange<
    { reshardingId: Uint8Array; attempt: number; reads: boolean },
    { clusterTime: TimestampPair; error: ErrorField }
  >({ ...attempt, reads: false }, { clusterTime: [1, 1], error: null }),
  /**
   * Writes are blocked on all donors: the recipient fetches the last changes, and answers when all
   * are on its disk.
   */
  'shard.finish-resharding': exchange<{ reshardingId: Uint8Array; attempt: number }, { error: ErrorField }>(attempt, {
    error: null,
  }),
  /**
   * Participants and, after a commit, all other shards drop what is obsolete. Idempotent. Server:
   * _shardsvrCommitReshardCollection, _shardsvrAbortReshardCollection,
   * _shardsvrDropCollectionIfUUIDNotMatching.
   */
  'shard.apply-resharding-outcome': exchange<
    { reshardingId: Uint8Array; attempt: number; ns: string; sourceUuid: Uint8Array; committed: boolean },
    { error: ErrorField }
  >({ ...attempt, ns: 'test.c', sourceUuid: reshardingId, committed: true }, { error: null }),
}
