import type { DatabaseVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField, type TimestampPair } from './exchange.js'

/** How far a recipient is. Server: RecipientState of resharding/common_types.idl; `caught-up` is `applying` with nothing left for the moment. */
export type ReshardingRecipientState =
  | 'creating-collection'
  | 'cloning'
  | 'applying'
  | 'caught-up'
  | 'strict-consistency'
  | 'error'

/** Which command a resharding carries out; null before 8.0, where there is one. Server: ReshardingProvenance of resharding/common_types.idl. */
export type ReshardingProvenance = 'reshardCollection' | 'moveCollection' | 'unshardCollection' | null

/** What became of a resharding, as its coordinator knows it. */
export type ReshardingOutcome = 'running' | 'committed' | 'aborted'

const reshardingId = new Uint8Array(16)
const attempt = { reshardingId, attempt: 1 }

/** What donors and recipients of an attempt are told of the collection. */
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
 * Resharding: every document of a collection goes to where it belongs under another shard key. `reshardingId` is a UUID of 16 bytes, which
 * becomes the collection's. What participants have done for an attempt is of no use to the next one, which has a higher number.
 */
export const reshardingExchanges = {
  /** A router asks the database's primary shard to reshard; it answers when that has ended. `request` is the command. Server: _shardsvrReshardCollection. */
  'shard.reshard-collection': exchange<
    { ns: string; request: Uint8Array; collectionUuid: Uint8Array | null; databaseVersion: DatabaseVersionTuple },
    { error: ErrorField }
  >(
    { ns: 'test.c', request: emptyDocument, collectionUuid: new Uint8Array(16), databaseVersion: ['00', 1, 1, 1] },
    { error: null },
  ),
  /**
   * The primary shard has the config server begin. Asking again for what has begun, or has ended, changes nothing. `runningId`: which one it
   * waits for, as an equal one may be running. `state` `done`: there is nothing to be done. Server: _configsvrReshardCollection.
   */
  'config.start-resharding': exchange<
    { reshardingId: Uint8Array; ns: string; request: Uint8Array },
    { state: 'running' | 'done'; runningId: Uint8Array; error: ErrorField }
  >({ reshardingId, ns: 'test.c', request: emptyDocument }, { state: 'running', runningId: reshardingId, error: null }),
  /** It answers when the resharding has ended, or after a while. */
  'config.await-resharding': exchange<{ reshardingId: Uint8Array; ns: string }, { ended: boolean; error: ErrorField }>(
    { reshardingId, ns: 'test.c' },
    { ended: true, error: null },
  ),
  /** Gives the resharding of a collection up, and answers when nothing is left of it. Server: _configsvrAbortReshardCollection. */
  'config.abort-resharding': exchange<{ ns: string; provenance: ReshardingProvenance }, { error: ErrorField }>(
    { ns: 'test.c', provenance: 'reshardCollection' },
    { error: null },
  ),
  /** The resharding of a collection need not wait any longer before it blocks writes. Server: _configsvrCommitReshardCollection. */
  'config.commit-resharding': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /** As an abort, but nothing to be given up is no error. Server: _configsvrCleanupReshardCollection. */
  'config.cleanup-resharding': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /** A participant asks about an attempt. */
  'config.resharding-outcome': exchange<
    { reshardingId: Uint8Array; attempt: number; ns: string },
    { outcome: ReshardingOutcome }
  >({ ...attempt, ns: 'test.c' }, { outcome: 'running' }),
  /**
   * Keys of a key pattern, in its bounds' form, of at most `size` documents that the shard owns, taken at random. `weights` order the samples of
   * all shards as if they were one. Server: the `$sample` of SamplingBasedSplitPolicy.
   */
  'shard.sample-shard-keys': exchange<
    { ns: string; uuid: Uint8Array; keyPattern: Uint8Array; size: number },
    { keys: readonly Uint8Array[]; weights: readonly number[]; error: ErrorField }
  >(
    { ns: 'test.c', uuid: reshardingId, keyPattern: emptyDocument, size: 10 },
    { keys: [emptyDocument], weights: [1], error: null },
  ),
  /** The config server has a donor follow what changes from now on. */
  'shard.donate-collection': exchange<
    ReshardedCollection & { recipients: readonly string[] },
    { documents: number; bytes: number; options: Uint8Array; indexes: readonly Uint8Array[]; error: ErrorField }
  >(
    { ...reshardedCollection, recipients: ['shard01'] },
    { documents: 1, bytes: 40, options: emptyDocument, indexes: [emptyDocument], error: null },
  ),
  /** The config server has a recipient begin to clone. */
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
  /** How far is a recipient? It answers when it is no longer in state `known`, or after a while. `reason`: why it is in `error`. */
  'shard.resharding-status': exchange<
    { reshardingId: Uint8Array; attempt: number; known: ReshardingRecipientState },
    { state: ReshardingRecipientState; reason: ErrorField; error: ErrorField }
  >({ ...attempt, known: 'cloning' }, { state: 'applying', reason: null, error: null }),
  /** Recipient to donor: the next documents for this recipient; as `shard.migrate-clone`. A batch may be empty and not the last one. */
  'shard.resharding-clone': exchange<
    { reshardingId: Uint8Array; attempt: number; recipient: string; batch: number; documentsMax: number },
    { documents: readonly Uint8Array[]; last: boolean; error: ErrorField }
  >(
    { ...attempt, recipient: 'shard01', batch: 0, documentsMax: 0 },
    { documents: [emptyDocument], last: true, error: null },
  ),
  /** Recipient to donor: what has changed since the last time; as `shard.transfer-mods`. */
  'shard.resharding-mods': exchange<
    { reshardingId: Uint8Array; attempt: number; recipient: string; batch: number },
    { deleted: readonly Uint8Array[]; reloaded: readonly Uint8Array[]; sessions: Uint8Array | null; error: ErrorField }
  >(
    { ...attempt, recipient: 'shard01', batch: 0 },
    { deleted: [emptyDocument], reloaded: [emptyDocument], sessions: emptyDocument, error: null },
  ),
  /**
   * Nobody may write to the collection on this participant any more, with `reads` nobody may read either, until it is settled. What was read
   * before was not later than `clusterTime`.
   */
  'shard.block-for-resharding': exchange<
    { reshardingId: Uint8Array; attempt: number; reads: boolean },
    { clusterTime: TimestampPair; error: ErrorField }
  >({ ...attempt, reads: false }, { clusterTime: [1, 1], error: null }),
  /** Writes are blocked everywhere: the recipient takes what is left and answers when everything is on its disk. */
  'shard.finish-resharding': exchange<{ reshardingId: Uint8Array; attempt: number }, { error: ErrorField }>(attempt, {
    error: null,
  }),
  /**
   * The attempt has been decided. Participants and, after a commit, all other shards drop what has no use any more. Repeating it changes nothing.
   * Server: _shardsvrCommitReshardCollection, _shardsvrAbortReshardCollection, _shardsvrDropCollectionIfUUIDNotMatching.
   */
  'shard.settle-resharding': exchange<
    { reshardingId: Uint8Array; attempt: number; ns: string; sourceUuid: Uint8Array; committed: boolean },
    { error: ErrorField }
  >({ ...attempt, ns: 'test.c', sourceUuid: reshardingId, committed: true }, { error: null }),
}
