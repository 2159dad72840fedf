import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField } from './exchange.js'

/**
 * A document whose new shard key belongs to another shard goes there: the donor, which has it, coordinates a commit of two, the recipient
 * prepares the insert. `session`: `{ lsid, txnNumber, stmtId }` of the retryable write behind it.
 */
export const documentMoveExchanges = {
  /**
   * A router asks the donor to move a document. `before`: what the donor has, null when an upsert found none; `after`: what the recipient
   * gets. The same `requestId` may be sent again. `error` 366 WouldChangeOwningShardDeletedNoDocument: `before` is no longer there, or
   * `after` belongs elsewhere by now; the statement has to run again.
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
  /** The recipient inserts the document so that nobody sees it before {@link 'shard.decide-insert'}. */
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
  /** What became of a prepared insert. Nothing happens when the recipient has none, or has heard it before. */
  'shard.decide-insert': exchange<{ attemptId: string; committed: boolean }, { error: ErrorField }>(
    { attemptId: '0123456789abcdef01234567', committed: true },
    { error: null },
  ),
  /** A recipient that has heard nothing asks the coordinator: `pending`, `committed` or `aborted`. */
  'shard.document-move-outcome': exchange<{ attemptId: string }, { outcome: string }>(
    { attemptId: '0123456789abcdef01234567' },
    { outcome: 'pending' },
  ),
}
