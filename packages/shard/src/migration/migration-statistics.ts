/**
 * Counts since the start of the member, for serverStatus.
 * Server: sharding_statistics.cpp.
 */
import type { MigrationStage } from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { Size } from '../ranges/collection-ranges.js'

export class MigrationStatistics {
  readonly #donated = {
    started: 0,
    committed: 0,
    aborted: 0,
    documents: 0,
    bytes: 0,
    totalMs: 0,
    cloneMs: 0,
    criticalMs: 0,
    commitMs: 0,
    lockTimeouts: 0,
  }
  readonly #received = { started: 0, documents: 0, bytes: 0, changedDocuments: 0, changedBytes: 0, criticalMs: 0 }
  readonly #deleted = { documents: 0, bytes: 0 }
  /** In ms since the start of the migration; null: not in a critical section. */
  #criticalSinceMs: number | null = null
  /** As above; null: the config server has not been asked to commit. */
  #commitSinceMs: number | null = null

  /**
   * @param cloned by the recipient
   * @param durationMs since the start of the migration
   */
  noteDonorStage(stage: MigrationStage, cloned: readonly [documents: number, bytes: number], durationMs: number): void {
    const counts = this.#donated
    if (stage === 'started') counts.started++
    else if (stage === 'cloned') counts.cloneMs += durationMs
    else if (stage === 'critical-section') this.#criticalSinceMs = durationMs
    else {
      counts[stage]++
      counts.documents += cloned[0]
      counts.bytes += cloned[1]
      counts.totalMs += durationMs
      if (this.#criticalSinceMs !== null) counts.criticalMs += durationMs - this.#criticalSinceMs
      if (this.#commitSinceMs !== null && stage === 'committed') counts.commitMs += durationMs - this.#commitSinceMs
      this.#criticalSinceMs = null
      this.#commitSinceMs = null
    }
  }

  /** @param durationMs since the start of the migration */
  noteCommitting(durationMs: number): void {
    this.#commitSinceMs = durationMs
  }

  /** A migration from this shard has failed because transactions still used its collection. */
  noteLockTimeout(): void {
    this.#donated.lockTimeouts++
  }

  /** Of a migration to this shard. */
  noteCriticalSection(durationMs: number): void {
    this.#received.criticalMs += durationMs
  }

  noteReceiving(): void {
    this.#received.started++
  }

  noteCloned({ documents, bytes }: Size): void {
    this.#received.documents += documents
    this.#received.bytes += bytes
  }

  /** Documents that were written during the clone. */
  noteCaughtUp({ documents, bytes }: Size): void {
    this.#received.changedDocuments += documents
    this.#received.changedBytes += bytes
  }

  noteDeleted(documents: number, bytes: number): void {
    this.#deleted.documents += documents
    this.#deleted.bytes += bytes
  }

  write(writer: DocumentWriter, { shardsCountMigrations }: Behaviours, rangeDeletions: number): void {
    if (shardsCountMigrations === 'not') return
    const withBytes = shardsCountMigrations === 'bytes'
    const { started, committed, aborted, documents, bytes, totalMs, cloneMs, criticalMs, commitMs, lockTimeouts } =
      this.#donated
    const received = this.#received
    writer.int64('countDonorMoveChunkStarted', started)
    if (withBytes)
      writer
        .int64('countDonorMoveChunkCommitted', committed)
        .int64('countDonorMoveChunkAborted', aborted)
        .int64('totalDonorMoveChunkTimeMillis', totalMs)
    writer
      .int64('totalDonorChunkCloneTimeMillis', cloneMs)
      .int64('totalCriticalSectionCommitTimeMillis', commitMs)
      .int64('totalCriticalSectionTimeMillis', criticalMs)
    if (withBytes) writer.int64('totalRecipientCriticalSectionTimeMillis', received.criticalMs)
    writer.int64('countDocsClonedOnRecipient', received.documents)
    if (withBytes)
      writer
        .int64('countBytesClonedOnRecipient', received.bytes)
        .int64('countDocsClonedOnCatchUpOnRecipient', received.changedDocuments)
        .int64('countBytesClonedOnCatchUpOnRecipient', received.changedBytes)
    writer.int64('countDocsClonedOnDonor', documents)
    if (withBytes) writer.int64('countBytesClonedOnDonor', bytes)
    writer.int64('countRecipientMoveChunkStarted', received.started)
    if (withBytes)
      writer
        .int64('countDocsDeletedByRangeDeleter', this.#deleted.documents)
        .int64('countBytesDeletedByRangeDeleter', this.#deleted.bytes)
    else writer.int64('countDocsDeletedOnDonor', this.#deleted.documents)
    writer.int64('countDonorMoveChunkLockTimeout', lockTimeouts)
    if (withBytes) writer.int64('countDonorMoveChunkAbortConflictingIndexOperation', 0)
    writer.int64('unfinishedMigrationFromPreviousPrimary', 0).int32('rangeDeleterTasks', rangeDeletions)
  }
}
