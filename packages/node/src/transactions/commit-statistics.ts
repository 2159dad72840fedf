/** Commits of two phases. Server: server_transaction_coordinators_metrics.cpp. */
import type { DocumentWriter } from '@shardlab/bson'

const steps = [
  'writingParticipantList',
  'waitingForVotes',
  'writingDecision',
  'waitingForDecisionAcks',
  'deletingCoordinatorDoc',
] as const

export type CommitStep = (typeof steps)[number]

export class CommitStatistics {
  started = 0
  committed = 0
  aborted = 0
  readonly #current = new Map<CommitStep, number>()

  /**
   * @param from null: the commit begins
   * @param to null: it is over
   */
  move(from: CommitStep | null, to: CommitStep | null): void {
    if (from !== null) this.#current.set(from, this.#current.get(from)! - 1)
    if (to !== null) this.#current.set(to, (this.#current.get(to) ?? 0) + 1)
  }

  /** Without `totalCreated`. */
  write(writer: DocumentWriter): void {
    writer
      .int64('totalStartedTwoPhaseCommit', this.started)
      .int64('totalAbortedTwoPhaseCommit', this.aborted)
      .int64('totalCommittedTwoPhaseCommit', this.committed)
      .startDocument('currentInSteps')
    for (const step of steps) writer.int64(step, this.#current.get(step) ?? 0)
    writer.end()
  }
}
