import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField, type TimestampPair } from './exchange.js'

/**
 * Moves a document whose shard key changes. The donor, which has the document, coordinates a
 * two-phase commit; the recipient prepares the insert. Cluster times travel with the move, so that
 * the insert is later than the delete. `session`: `{ lsid, txnNumber, stmtId }` of
 * the retryable write.
 */
export const documentMoveExchanges = {
  /**
   * Sent by a router to the donor. `before`: the donor's document; null: an upsert found none.
   * `after`: the document for the recipient. A request may be repeated with the same `requestId`.
   * `error` 366 WouldChangeOwningShardDeletedNoDocument: `before` no longer exists, or `after` now
   * belongs to another shard; the router must run the statement again.
   */
  'shard.move-document': exchange<
    {
      requestId: string
      ns: string
      before: Uint8Array | null
      after: Uint8Array
      shardVersion: PlacementVersionTuple
      session: Uint8Array
      clusterTime: TimestampPair
    },
    { error: ErrorField; clusterTime: TimestampPair }
  >(
    {
      requestId: '0123456789abcdef01234567',
      ns: 'test.c',
      before: emptyDocument,
      after: emptyDocument,
      shardVersion: ['0123456789abcdef01234567', 1, 2, 3, 4],
      session: emptyDocument,
      clusterTime: [1, 2],
    },
    { error: null, clusterTime: [1, 2] },
  ),
  /** The recipient inserts the document, invisible to readers until `shard.decide-insert`. */
  'shard.prepare-insert': exchange<
    {
      attemptId: string
      coordinator: string
      ns: string
      collectionUuid: Uint8Array
      document: Uint8Array
      shardVersion: PlacementVersionTuple
      session: Uint8Array
    },
    { error: ErrorField }
  >(
    {
      attemptId: '0123456789abcdef01234567',
      coordinator: 'shard01',
      ns: 'test.c',
      collectionUuid: new Uint8Array(16),
      document: emptyDocument,
      shardVersion: ['0123456789abcdef01234567', 1, 2, 3, 4],
      session: emptyDocument,
    },
    { error: null },
  ),
  /**
   * No effect when the recipient has no such prepared insert, or has received the decision before.
   */
  'shard.decide-insert': exchange<
    { attemptId: string; committed: boolean; clusterTime: TimestampPair },
    { error: ErrorField; clusterTime: TimestampPair }
  >(
    { attemptId: '0123456789abcdef01234567', committed: true, clusterTime: [1, 2] },
    { error: null, clusterTime: [1, 2] },
  ),
  /**
   * Sent to the coordinator by a recipient without a decision. `outcome`: `pending`, `committed` or
   * `aborted`.
   */
  'shard.document-move-outcome': exchange<{ attemptId: string }, { outcome: string; clusterTime: TimestampPair }>(
    { attemptId: '0123456789abcdef01234567' },
    { outcome: 'pending', clusterTime: [1, 2] },
  ),
}
