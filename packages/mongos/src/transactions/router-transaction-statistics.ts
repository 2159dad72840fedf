/** `transactions` of serverStatus. Server: router_transactions_metrics.cpp. */
import { errorCodeName, type DocumentWriter } from '@shardlab/bson'

const commitTypes = [
  'noShards',
  'singleShard',
  'singleWriteShard',
  'readOnly',
  'twoPhaseCommit',
  'recoverWithToken',
] as const

export type CommitType = (typeof commitTypes)[number]

interface CommitCounts {
  initiated: number
  successful: number
  successfulMs: number
}

export class RouterTransactionStatistics {
  started = 0
  committed = 0
  aborted = 0
  contactedParticipants = 0
  participantsAtCommit = 0
  requestsTargeted = 0
  readonly #abortCauses = new Map<string, number>()
  readonly #commits = new Map<CommitType, CommitCounts>(
    commitTypes.map((type) => [type, { initiated: 0, successful: 0, successfulMs: 0 }]),
  )

  /** @param cause a code; or `abort`: the client has aborted */
  abortedBecause(cause: number | 'abort'): void {
    this.aborted++
    const name = cause === 'abort' ? cause : errorCodeName(cause)
    this.#abortCauses.set(name, (this.#abortCauses.get(name) ?? 0) + 1)
  }

  commitBegins(type: CommitType): void {
    this.#commits.get(type)!.initiated++
  }

  commitSucceeds(type: CommitType, durationMs: number): void {
    this.committed++
    const counts = this.#commits.get(type)!
    counts.successful++
    counts.successfulMs += durationMs
  }

  write(writer: DocumentWriter, { open, active }: { readonly open: number; readonly active: number }): void {
    writer
      .int64('currentOpen', open)
      .int64('currentActive', active)
      .int64('currentInactive', open - active)
      .int64('totalStarted', this.started)
      .int64('totalCommitted', this.committed)
      .int64('totalAborted', this.aborted)
      .startDocument('abortCause')
    for (const [name, count] of this.#abortCauses) writer.int64(name, count)
    writer
      .end()
      .int64('totalContactedParticipants', this.contactedParticipants)
      .int64('totalParticipantsAtCommit', this.participantsAtCommit)
      .int64('totalRequestsTargeted', this.requestsTargeted)
      .startDocument('commitTypes')
    for (const [type, { initiated, successful, successfulMs }] of this.#commits)
      writer
        .startDocument(type)
        .int64('initiated', initiated)
        .int64('successful', successful)
        .int64('successfulDurationMicros', Math.round(successfulMs * 1000))
        .end()
    writer.end()
  }
}
