/** Server: transaction_router.cpp, _reportTransactionState. */
import { isoText, type ReportedTransaction } from '@shardlab/member'
import type { RouterTransaction } from './router-transaction.js'

export function reportOf(transaction: RouterTransaction, nowMs: number): ReportedTransaction {
  const { session, operation, connectionId, txnNumber, readConcern, snapshotTime, participants, commit, clock } =
    transaction
  return {
    lsid: session.document,
    operation,
    connectionId,
    write(writer) {
      writer.startDocument('parameters').int64('txnNumber', txnNumber).bool('autocommit', false)
      if (readConcern !== null) writer.document('readConcern', readConcern)
      writer.end()
      if (snapshotTime !== null) writer.timestamp('globalReadTimestamp', snapshotTime[0], snapshotTime[1])
      clock.write(writer, nowMs)
      writer.int32('numParticipants', participants.length).startArray('participants')
      participants.forEach(({ shard, isCoordinator, isReadOnly }, i) => {
        writer.startDocument(String(i)).string('name', shard).bool('coordinator', isCoordinator)
        if (isReadOnly !== null) writer.bool('readOnly', isReadOnly)
        writer.end()
      })
      writer.end()
      if (commit !== null)
        writer.string('commitStartWallClockTime', isoText(commit.beganAtMs)).string('commitType', commit.type)
      writer
        .int32('numReadOnlyParticipants', participants.filter(({ isReadOnly }) => isReadOnly === true).length)
        .int32('numNonReadOnlyParticipants', participants.filter(({ isReadOnly }) => isReadOnly === false).length)
    },
  }
}
