import type { Address } from '../contract/address.js'
import { emptyDocument, exchange, type Empty, type TimestampPair } from './exchange.js'

/** A position in the oplog. */
export type OpTimeTuple = readonly [seconds: number, increment: number, term: number]

/** A position, with the time of day at which its primary wrote the entry. */
export type TimedOpTimeTuple = readonly [...optime: OpTimeTuple, wallMs: number]

/** How far a member is. */
export type MemberPositionTuple = readonly [
  memberId: number,
  configVersion: number,
  applied: TimedOpTimeTuple,
  durable: TimedOpTimeTuple,
]

/** What a sync source sends with each batch of its oplog. */
export interface SourceMetadataFields {
  term: number
  committed: TimedOpTimeTuple
  lastApplied: OpTimeTuple
  isPrimary: boolean
  /** -1: it knows no primary. */
  primaryIndex: number
  /** Null: the source itself has no source. */
  syncingTo: string | null
}

/** Documents of one collection, which a rollback has removed or overwritten. */
export type RollbackFileTuple = readonly [
  /** Below the server's dbPath. */
  path: string,
  ns: string,
  documents: number,
  sizeBytes: number,
  atMs: number,
]

const someOpTime: OpTimeTuple = [7, 1, 1]
const someTimedOpTime: TimedOpTimeTuple = [7, 1, 1, 7000]
const someMetadata: SourceMetadataFields = {
  term: 1,
  committed: someTimedOpTime,
  lastApplied: someOpTime,
  isPrimary: true,
  primaryIndex: 0,
  syncingTo: null,
}

/** Whether a message belongs to the protocol of a replica set, which never rests. */
export const isOfSetProtocol = (kind: string): boolean => kind.startsWith('replication.')

export const replicationExchanges = {
  /**
   * To a member of a replica set, from members outside of the set that look for its primary.
   * `isWritable`: this member is primary and accepts writes. `primary`: the one that it knows;
   * null: none.
   */
  'replication.find-primary': exchange<Empty, { isWritable: boolean; term: number; primary: Address | null }>(
    {},
    { isWritable: false, term: 3, primary: 'shard01-2' },
  ),
  /**
   * To a member of a replica set, from routers that choose members to read from. `state`:
   * `primary` also while it does not accept writes yet; `secondary` only if clients may read from
   * it; else `other`, as for hidden members. `tags`: a document of strings. `lastWriteMs`: the time
   * of day at which the primary wrote the newest entry that this member has applied; 0: none.
   */
  'replication.member-state': exchange<
    Empty,
    { state: 'primary' | 'secondary' | 'other'; tags: Uint8Array; lastWriteMs: number }
  >({}, { state: 'secondary', tags: emptyDocument, lastWriteMs: 7000 }),
  /** `refusal`: why the member does not answer; null: the other fields are its answer. */
  'replication.heartbeat': exchange<
    {
      setName: string
      configVersion: number
      configTerm: number
      term: number
      /** Null: the sender is not in its own configuration. */
      fromId: number | null
      fromHost: string | null
      primaryId: number | null
    },
    {
      refusal: string | null
      setName: string
      state: string
      term: number
      configVersion: number
      configTerm: number
      /** The document of the configuration, if the sender's is older. */
      newerConfig: Uint8Array | null
      primaryId: number | null
      syncingTo: string | null
      electionTime: TimestampPair | null
      electable: boolean
      applied: TimedOpTimeTuple
      durable: TimedOpTimeTuple
      committed: TimedOpTimeTuple
    }
  >(
    {
      setName: 'shard01',
      configVersion: 1,
      configTerm: 1,
      term: 1,
      fromId: 0,
      fromHost: '127.0.0.1:5000',
      primaryId: 0,
    },
    {
      refusal: null,
      setName: 'shard01',
      state: 'SECONDARY',
      term: 1,
      configVersion: 1,
      configTerm: 1,
      newerConfig: null,
      primaryId: 0,
      syncingTo: '127.0.0.1:5000',
      electionTime: null,
      electable: true,
      applied: someTimedOpTime,
      durable: someTimedOpTime,
      committed: someTimedOpTime,
    },
  ),
  'replication.request-vote': exchange<
    {
      setName: string
      dryRun: boolean
      term: number
      candidateIndex: number
      configVersion: number
      configTerm: number
      lastApplied: OpTimeTuple
    },
    { term: number; granted: boolean; reason: string }
  >(
    {
      setName: 'shard01',
      dryRun: true,
      term: 1,
      candidateIndex: 0,
      configVersion: 1,
      configTerm: 1,
      lastApplied: someOpTime,
    },
    { term: 1, granted: true, reason: '' },
  ),
  /** Along the chain of sync sources. `isKnown` false: a member is not in the receiver's set. */
  'replication.report-positions': exchange<
    { term: number; positions: readonly MemberPositionTuple[] },
    { isKnown: boolean }
  >({ term: 1, positions: [[1, 1, someTimedOpTime, someTimedOpTime]] }, { isKnown: true }),
  /**
   * Entries of the receiver's oplog after a position, at most about `bytesMax`. Waits up to
   * `awaitMs` for the first one. `outcome`: `entries`; `diverged`, if the receiver does not have
   * the entry at the position; `too-old`, if it has no entry that old any more; `no-source`, if it
   * cannot be read. `entries`: BSON documents, one after the other.
   */
  'replication.fetch': exchange<
    { term: number; after: OpTimeTuple; bytesMax: number; awaitMs: number },
    SourceMetadataFields & { outcome: string; entries: Uint8Array }
  >(
    { term: 1, after: someOpTime, bytesMax: 1, awaitMs: 1 },
    { ...someMetadata, outcome: 'entries', entries: emptyDocument },
  ),
  /** Positions of the receiver's oplog before one, newest first. `before` null: from its end. */
  'replication.positions-before': exchange<
    { before: OpTimeTuple | null; count: number },
    { positions: readonly OpTimeTuple[] }
  >({ before: null, count: 10 }, { positions: [someOpTime] }),
  /**
   * Everything that the receiver has, for a member without data. `image` null: it cannot be read.
   */
  'replication.clone': exchange<{ term: number }, SourceMetadataFields & { image: Uint8Array | null }>(
    { term: 1 },
    { ...someMetadata, image: emptyDocument },
  ),
  /** The files in which the receiver keeps documents of rollbacks, oldest first. */
  'replication.rollback-files': exchange<Empty, { files: readonly RollbackFileTuple[] }>(
    {},
    { files: [['rollback/app.c/removed.0.bson', 'app.c', 1, 5, 7000]] },
  ),
  /** A part of a file; null: the receiver does not have it. */
  'replication.read-rollback-file': exchange<
    { path: string; offset: number; bytesMax: number },
    { bytes: Uint8Array | null }
  >({ path: 'rollback/app.c/removed.0.bson', offset: 0, bytesMax: 1 }, { bytes: emptyDocument }),
  /**
   * To a primary, from a member that waits for an entry with this time or a later one: write one,
   * unless there is one. `isAppended` is false if the receiver is not primary.
   */
  'replication.append-note': exchange<{ after: readonly [number, number] }, { isAppended: boolean }>(
    { after: [7, 1] },
    { isAppended: true },
  ),
  /** From a primary that steps down: run for election without a dry run. */
  'replication.step-up': exchange<Empty, Empty>({}, {}),
  /**
   * To each member of a copied set: what its configuration calls `from` listens at `to` now.
   * `applied`: its newest entry. `electable`: whether it may run for election.
   */
  'replication.relocate': exchange<
    { moved: readonly (readonly [from: string, to: string])[] },
    { applied: OpTimeTuple; electable: boolean }
  >({ moved: [['127.0.0.1:27018', '127.0.0.1:27118']] }, { applied: someOpTime, electable: true }),
  /**
   * Run for election, again and again until a member wins. Answered when the primary accepts
   * writes, or after the election timeout of the set.
   */
  'replication.campaign': exchange<Empty, Empty>({}, {}),
  /**
   * To each member of a new set, whose disks are empty, with the same values: the document of the
   * configuration, and the time of the first entry. `isPrimary`: one of them, which runs for
   * election at once. Answered when the member knows the primary.
   */
  'replication.initiate': exchange<{ config: Uint8Array; atMs: number; isPrimary: boolean }, Empty>(
    { config: emptyDocument, atMs: 1, isPrimary: true },
    {},
  ),
}
