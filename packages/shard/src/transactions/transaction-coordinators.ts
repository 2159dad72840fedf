/**
 * Two-phase commits that this shard coordinates. A record decides: without a decision in it the
 * participants are asked again after a crash, with one they are informed until all have
 * acknowledged. Server: transaction_coordinator.cpp, transaction_coordinator_service.cpp.
 */
import { StepFailedError } from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes } from '@shardlab/bson'
import { SessionCatalog, type SessionId } from '@shardlab/member'
import {
  CommitStatistics,
  isFullDisk,
  reachIgnoringFault,
  retryUntilDone,
  untilMajorityHasState,
  type CommitStep,
  type NodeHost,
} from '@shardlab/node'
import { Records } from '../common/record-store.js'
import { Coordination } from './coordination.js'
import { coordinatorRecords, type CoordinatorRecord, type Decision, type TransactionId } from './coordinator-record.js'
import { Participants } from './participants.js'

export class TransactionCoordinators {
  readonly #node: NodeHost
  readonly #records: Records<CoordinatorRecord, TransactionId>
  readonly statistics = new CommitStatistics()
  readonly #running = new Map<string, Coordination>()

  constructor(node: NodeHost) {
    this.#node = node
    this.#records = new Records(node, coordinatorRecords)
  }

  /** Call after the node has recovered its state. */
  start(): void {
    for (const record of this.#records.all()) this.#begin(record, true)
  }

  get count(): number {
    return this.#running.size
  }

  /**
   * For currentOp.
   * @param shard for requests of routers; null: a direct connection
   */
  *operations(shard: string | null): Generator<Uint8Array> {
    const { behaviours, context } = this.#node
    for (const coordination of this.#running.values()) {
      if (coordination.step === null) continue
      const writer = new DocumentWriter(512)
      if (shard !== null) writer.string('shard', shard)
      writer.string('host', context.endpoint).string('desc', 'transaction coordinator')
      writer.startDocument('twoPhaseCommitCoordinator')
      coordination.report(writer, context.now(), behaviours.transactionsHaveRetryCounters)
      yield writer.end().finish()
    }
  }

  /**
   * The running commit of the transaction.
   * @returns undefined: none runs here
   */
  running(session: SessionId, txnNumber: bigint): Promise<Decision> | undefined {
    const running = this.#running.get(keyOf(session.key, txnNumber))
    return running === undefined ? undefined : this.#outcome(running)
  }

  /** Resolves when the transaction is decided, and by default when all participants know it. */
  coordinate(
    { key, document: lsid }: SessionId,
    txnNumber: bigint,
    participants: readonly string[],
  ): Promise<Decision> {
    const running = this.#running.get(keyOf(key, txnNumber))
    return this.#outcome(running ?? this.#begin({ id: { lsid, txnNumber }, participants, decision: null }))
  }

  #outcome(coordination: Coordination): Promise<Decision> {
    const atOnce = this.#node.parameters.bool('coordinateCommitReturnImmediatelyAfterPersistingDecision')
    return atOnce ? coordination.decided : coordination.finished
  }

  #begin(record: CoordinatorRecord, isRecovered = false): Coordination {
    const coordination = new Coordination(record, this.#node.context.now(), isRecovered)
    const { key } = SessionCatalog.parseAny(record.id.lsid)
    const name = keyOf(key, record.id.txnNumber)
    this.#running.set(name, coordination)
    const work = this.#run(coordination).then(
      () => coordination.finish(),
      (error: unknown) => {
        coordination.fail(error)
        if (!isInterruption(error)) throw error
      },
    )
    this.#node.context.detach(
      work.finally(() => {
        this.#running.delete(name)
        this.#enter(coordination, null)
      }),
    )
    return coordination
  }

  #enter(coordination: Coordination, step: CommitStep | null): void {
    this.statistics.move(coordination.step, step)
    coordination.enter(step, this.#node.context.now())
  }

  async #run(coordination: Coordination): Promise<void> {
    const { context } = this.#node
    const { id, participants } = coordination
    const shards = new Participants(this.#node, id, participants)
    const details = { participants }
    if (coordination.isRecovered) await untilMajorityHasState(this.#node)
    if (coordination.decision === null) {
      this.statistics.started++
      const decision = await this.#decide(coordination, shards)
      this.#enter(coordination, 'writingDecision')
      if (!context.mutated('decisionRecordOff')) this.#records.put({ id, participants, decision })
      await retryUntilDone(this.#node, () => this.#node.flushToMajority(), isFullDisk)
      coordination.decide(decision)
    } else coordination.decide(coordination.decision)
    this.#enter(coordination, 'waitingForDecisionAcks')
    await reachIgnoringFault(context, 'shard.transaction.decided', details)
    await shards.send(coordination.decision!)
    this.#enter(coordination, 'deletingCoordinatorDoc')
    await reachIgnoringFault(context, 'shard.transaction.acknowledged', details)
    this.#records.remove(id)
    await retryUntilDone(this.#node, () => this.#node.flush(), isFullDisk)
    if (coordination.decision!.outcome === 'commit') this.statistics.committed++
    else this.statistics.aborted++
  }

  async #decide(coordination: Coordination, shards: Participants): Promise<Decision> {
    const { id, participants } = coordination
    const { context, parameters } = this.#node
    const details = { participants }
    const deadlineMs = context.now() + parameters.number('transactionLifetimeLimitSeconds') * 1000
    coordination.deadlineMs = deadlineMs
    try {
      this.#enter(coordination, 'writingParticipantList')
      await context.reach('shard.transaction.coordinating', details)
      this.#records.put({ id, participants, decision: null })
      await this.#node.flushToMajority()
      await context.reach('shard.transaction.participants-written', details)
      this.#enter(coordination, 'waitingForVotes')
      const votes = await shards.votes(deadlineMs)
      await context.reach('shard.transaction.voted', details)
      return votes
    } catch (error) {
      // Nothing is decided, so the transaction may abort.
      if (error instanceof StepFailedError)
        return { outcome: 'abort', cause: new CommandError('NoSuchTransaction', error.message) }
      if (error instanceof CommandError && isFullDisk(error)) return { outcome: 'abort', cause: error }
      throw error
    }
  }
}

const keyOf = (session: string, txnNumber: bigint): string => `${session} ${txnNumber}`

/** The next primary continues. */
function isInterruption(error: unknown): boolean {
  return (
    error instanceof CommandError &&
    (error.code === ErrorCodes.PrimarySteppedDown || error.code === ErrorCodes.InterruptedDueToReplStateChange)
  )
}
