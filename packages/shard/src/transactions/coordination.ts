import { createDeferred, type Deferred } from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type { CommitStep } from '@shardlab/node'
import { writeDecision, type CoordinatorRecord, type Decision, type TransactionId } from './coordinator-record.js'

/** Server: TransactionCoordinator::toString. */
const stateNames: Readonly<Record<CommitStep, string>> = {
  writingParticipantList: 'writingParticipantList',
  waitingForVotes: 'waitingForVotes',
  writingDecision: 'writingDecision',
  waitingForDecisionAcks: 'waitingForDecisionAck',
  deletingCoordinatorDoc: 'deletingCoordinatorDoc',
}

/** One commit that this shard coordinates. */
export class Coordination {
  readonly id: TransactionId
  readonly participants: readonly string[]
  decision: Decision | null
  step: CommitStep | null = null
  readonly startedAtMs: number
  /** Whether an earlier process of the set has begun it. */
  readonly isRecovered: boolean
  /** For the votes. Null: the decision is known already. */
  deadlineMs: number | null = null
  readonly #enteredAtMs = new Map<CommitStep, number>()
  readonly #decided = createDeferred<Decision>()
  readonly #finished: Deferred<Decision> = createDeferred<Decision>()

  constructor({ id, participants, decision }: CoordinatorRecord, startedAtMs: number, isRecovered: boolean) {
    this.startedAtMs = startedAtMs
    this.isRecovered = isRecovered
    this.id = id
    this.participants = participants
    this.decision = decision
    // There may be no waiters.
    this.#decided.promise.catch(ignored)
    this.#finished.promise.catch(ignored)
  }

  /** @param step null: it is over */
  enter(step: CommitStep | null, nowMs: number): void {
    this.step = step
    if (step !== null) this.#enteredAtMs.set(step, nowMs)
  }

  /** Appends the fields of `twoPhaseCommitCoordinator` in currentOp. */
  report(writer: DocumentWriter, nowMs: number, hasRetryCounter: boolean): void {
    writer.document('lsid', this.id.lsid).int64('txnNumber', this.id.txnNumber)
    if (hasRetryCounter) writer.int32('txnRetryCounter', 0)
    writer
      .int64('numParticipants', this.participants.length)
      .string('state', stateNames[this.step!])
      .date('commitStartTime', this.startedAtMs)
      .bool('hasRecoveredFromFailover', this.isRecovered)
      .startDocument('stepDurations')
    const steps = [...this.#enteredAtMs]
    steps.forEach(([step, enteredMs], i) => {
      writer.int64(`${step}Micros`, Math.round(((steps[i + 1]?.[1] ?? nowMs) - enteredMs) * 1000))
      if (step === 'writingParticipantList')
        writer.int64('totalCommitDurationMicros', Math.round((nowMs - enteredMs) * 1000))
    })
    writer.end()
    if (this.decision !== null) writeDecision(writer, this.decision)
    if (this.deadlineMs !== null) writer.date('deadline', this.deadlineMs)
  }

  get decided(): Promise<Decision> {
    return this.#decided.promise
  }

  get finished(): Promise<Decision> {
    return this.#finished.promise
  }

  decide(decision: Decision): void {
    this.decision = decision
    this.#decided.resolve(decision)
  }

  finish(): void {
    this.#finished.resolve(this.decision!)
  }

  fail(error: unknown): void {
    this.#decided.reject(error)
    this.#finished.reject(error)
  }
}

const ignored = (): void => {}
