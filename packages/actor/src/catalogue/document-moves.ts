import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField } from './exchange.js'

/**
 * Moves of single documents whose shard key changes. The donor, which has the document, coordinates
 * a two-phase commit; the recipient prepares the insert. `session`: `{ lsid, txnNumber, stmtId }`
 * of the retryable write.
 */
export const documentMoveExchanges = {
  /**
   * A router asks the donor to move a document. `before`: the donor's document, null: an upsert
   * found none; `after`: the document for the recipient. A request may be repeated with the same
   * `requestId`. `error` 366 WouldChangeOwningShardDeletedNoDocument: `before` does not exist any
   * longer, or `after` belongs to another shard now; the router must run the statement again.
   */
  'shard.move-document': exchange<
    {
      requestId: string
      ns: string
      before: Uint8Array | null
      after: Uint8Array
      shardVersion: PlacementVersionTuple
      session: Uint8Array
    },
    { error: ErrorField }
  >(
    {
      requestId: '0123456789abcdef01234567',
      ns: 'test.c',
      before: emptyDocument,
      after: emptyDocument,
      shardVersion: ['0123456789abcdef01234567', 1, 2, 3, 4],
      session: emptyDocument,
    },
    { error: null },
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
   * The decision on a prepared insert. No effect when the recipient has none, or has received it
   * before.
   */
  'shard.decide-insert': exchange<{ attemptId: string; committed: boolean }, { error: ErrorField }>(
    { attemptId: '0123456789abcdef01234567', committed: true },
    { error: null },
  ),
  /**
   * A recipient without a decision asks the coordinator for the outcome: `pending`, `committed` or
   * `aborted`.
   */
  'shard.document-move-outcome': exchange<{ attemptId: string }, { outcome: string }>(
    { attemptId: '0123456789abcdef01234567' },
    { outcome: 'pending' },
  ),
}
