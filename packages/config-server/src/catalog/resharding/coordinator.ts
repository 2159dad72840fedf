/**
 * Before the commit, an attempt that loses a participant is restarted. After it, participants are
 * notified until all acknowledge. Server: resharding_coordinator_service.cpp,
 * resharding_coordinator_commit_monitor.cpp.
 */
import {
  requestFailure,
  createDeferred,
  LinkedAbort,
  RequestFailedError,
  StepFailedError,
  type ReshardingOutcome,
  type ReshardingRecipientState,
} from '@shardlab/actor'
import { CommandError, errorDocument, findField } from '@shardlab/bson'
import { raiseError, reachIgnoringFault } from '@shardlab/node'
import type { CatalogHost } from '../host.js'
import { commitOperation, finishOperation, writeState } from './catalog-changes.js'
import type { CoordinatorState, ReshardingOperation } from './operation.js'
import { Participants, participantsOf } from './participants.js'
import { prepareOperation } from './prepare.js'
import { reportState } from './report-state.js'

const retryPauseMs = 250
/** After a restart the number of the last attempt is unknown. */
const allAttempts = Number.MAX_SAFE_INTEGER

/** A participant has restarted or was replaced. */
const lost: ReadonlySet<number> = new Set([6, 7, 89, 94, 117, 133])

/** Null: success. */
export type Ending = CommandError | null

export class ReshardingCoordinator {
  readonly waiting = new Set<LinkedAbort>()
  readonly #catalog: CatalogHost
  readonly #ended = createDeferred<Ending>()
  /** Also aborted by a shutdown of the member, which leaves the operation undecided. */
  readonly #abort: LinkedAbort
  readonly #participants: Participants
  #operation: ReshardingOperation
  #attempt = 0
  #isAborted = false
  #isHurried = false
  /** Null: the critical section has not begun. */
  #deadlineMs: number | null = null

  constructor(catalog: CatalogHost, operation: ReshardingOperation) {
    this.#catalog = catalog
    this.#operation = operation
    this.#abort = new LinkedAbort(catalog.node.stopping.signal)
    this.#participants = new Participants(catalog, {
      signal: this.#abort.signal,
      check: () => this.#check(),
      deadlineMs: () => this.#deadlineMs,
    })
  }

  get operation(): ReshardingOperation {
    return this.#operation
  }

  get ended(): Promise<Ending> {
    return this.#ended.promise
  }

  outcomeOf(attempt: number): ReshardingOutcome {
    if (this.#operation.state === 'committing') return 'committed'
    return attempt === this.#attempt && this.#operation.state !== 'aborting' ? 'running' : 'aborted'
  }

  /** No effect after the commit. */
  abort(): void {
    this.#isAborted = true
    this.#abort.abort()
  }

  /** Skips the wait before writes are blocked. */
  hurry(): void {
    this.#isHurried = true
  }

  /** Throws only on a broken invariant. */
  async run(): Promise<void> {
    const { signal } = this.#catalog.node.stopping
    try {
      let failure: CommandError | null = null
      try {
        if (this.#operation.state === 'initializing') await this.#prepare()
        if (this.#operation.state !== 'committing' && this.#operation.state !== 'aborting') await this.#untilCommitted()
      } catch (error) {
        if (signal.aborted) return
        if (this.#operation.state !== 'committing') failure = this.#reasonOf(error)
      }
      const ending = this.#operation.state === 'committing' ? null : (failure ?? storedReason(this.#operation))
      if (ending === null) await this.#finish()
      else await this.#giveUp(ending)
      this.#ended.resolve(ending)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.#abort.unlink()
    }
  }

  async #prepare(): Promise<void> {
    const { node } = this.#catalog
    await this.#reach('config.resharding.started')
    const prepared = await this.#retried(() => prepareOperation(this.#catalog, this.#operation, this.#abort.signal))
    this.#check()
    this.#operation = prepared.write()
    await node.flushToMajority()
    await this.#reach('config.resharding.prepared')
  }

  async #retried<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!this.#isLost(error)) throw error
      }
      await this.#catalog.node.context.sleep(retryPauseMs, this.#abort.signal)
    }
  }

  async #untilCommitted(): Promise<void> {
    const { context } = this.#catalog.node
    for (;;) {
      try {
        this.#attempt = Math.max(this.#attempt + 1, context.now())
        await this.#tryOnce(this.#attempt)
        return
      } catch (error) {
        if (!this.#isLost(error)) throw error
        context.log('info', 'a resharding restarts', { ns: this.#operation.ns, reason: (error as Error).message })
      }
      this.#deadlineMs = null
      // Once only: a participant that misses the message asks later.
      await context.all(
        participantsOf(this.#operation).map((shard) =>
          this.#participants.announceOnce(shard, this.#operation, { attempt: this.#attempt, committed: false }),
        ),
      )
      await context.sleep(retryPauseMs, this.#abort.signal)
      await this.#transition({ state: 'preparing-to-donate' })
    }
  }

  async #tryOnce(attempt: number): Promise<void> {
    const { node } = this.#catalog
    const { context } = node
    const { id, ns, tempNs, sourceUuid, key, provenance, donors, recipients } = this.#operation
    const facts = { reshardingId: id, attempt, ns, tempNs, sourceUuid, keyPattern: key, provenance }
    const begun = await context.all(
      donors.map((donor) => this.#participants.ask(donor, 'shard.donate-collection', { ...facts, recipients })),
    )
    await this.#reach('config.resharding.donors-ready')
    const total = begun.reduce(
      (sum, { documents, bytes }) => ({ documents: sum.documents + documents, bytes: sum.bytes + bytes }),
      {
        documents: 0,
        bytes: 0,
      },
    )
    const approxSize = {
      documents: Math.floor(total.documents / recipients.length),
      bytes: Math.floor(total.bytes / recipients.length),
    }
    await this.#transition({ state: 'cloning', cloneTimestamp: node.clock.tick(), approxSize })
    const { options, indexes } = begun[0]!
    const received = {
      ...facts,
      donors,
      options,
      indexes,
      approxDocuments: approxSize.documents,
      approxBytes: approxSize.bytes,
    }
    await context.all(
      recipients.map((recipient) => this.#participants.ask(recipient, 'shard.receive-collection', received)),
    )
    await this.#reach('config.resharding.recipients-asked')
    await this.#awaitRecipients(attempt, ['creating-collection', 'cloning'])
    await this.#reach('config.resharding.cloned')
    await this.#transition({ state: 'applying' })
    await this.#awaitRecipients(attempt, ['creating-collection', 'cloning', 'applying'])
    await this.#awaitDuration()
    await this.#reach('config.resharding.caught-up')
    await this.#commit(attempt)
  }

  async #commit(attempt: number): Promise<void> {
    const { node } = this.#catalog
    const { context, parameters } = node
    const { id, recipients } = this.#operation
    const participants = participantsOf(this.#operation)
    const request = { reshardingId: id, attempt }
    await this.#transition({ state: 'blocking-writes' })
    this.#deadlineMs = context.now() + parameters.number('reshardingCriticalSectionTimeoutMillis')
    await context.all(
      participants.map((shard) =>
        this.#participants.ask(shard, 'shard.block-for-resharding', { ...request, reads: false }),
      ),
    )
    await this.#reach('config.resharding.writes-blocked')
    await context.all(
      recipients.map((recipient) => this.#participants.ask(recipient, 'shard.finish-resharding', request)),
    )
    await this.#reach('config.resharding.consistent')
    const blocked = participants.map((shard) =>
      this.#participants.ask(shard, 'shard.block-for-resharding', { ...request, reads: true }),
    )
    for (const { clusterTime } of await context.all(blocked)) node.clock.advance(clusterTime)
    await this.#reach('config.resharding.before-commit')
    this.#check()
    this.#deadlineMs = null
    const old = this.#operation.state
    this.#operation = { ...this.#operation, state: 'committing' }
    commitOperation(this.#catalog, this.#operation, old)
    await node.flushToMajority()
    this.#catalog.emitChange('collection-resharded', this.#operation.ns)
    reportState(this.#catalog, this.#operation, 'committed')
  }

  /**
   * Notifies all shards of the commit, then removes the operation from the catalog. Shards that did
   * not take part can have a copy of the old collection, without documents that they own.
   */
  async #finish(): Promise<void> {
    const { node } = this.#catalog
    const { ns } = this.#operation
    await reachIgnoringFault(node.context, 'config.resharding.committed', { ns })
    const shards = new Set([...participantsOf(this.#operation), ...this.#catalog.shardIds()])
    await this.#participants.announce([...shards], this.#operation, { attempt: allAttempts, committed: true })
    await reachIgnoringFault(node.context, 'config.resharding.participants-told', { ns })
    finishOperation(this.#catalog, this.#operation, true)
    await node.flushToMajority()
    reportState(this.#catalog, this.#operation, 'ended')
    await reachIgnoringFault(node.context, 'config.resharding.finished', { ns })
  }

  async #giveUp(reason: CommandError): Promise<void> {
    const { node } = this.#catalog
    const { ns, state: old } = this.#operation
    this.#deadlineMs = null
    if (old !== 'initializing' && old !== 'aborting') {
      this.#operation = { ...this.#operation, state: 'aborting', abortReason: errorDocument(reason) }
      writeState(this.#catalog, this.#operation, old)
      await node.flushToMajority()
    }
    await reachIgnoringFault(node.context, 'config.resharding.aborting', { ns })
    if (this.#operation.state === 'aborting')
      await this.#participants.announce(participantsOf(this.#operation), this.#operation, {
        attempt: allAttempts,
        committed: false,
      })
    await reachIgnoringFault(node.context, 'config.resharding.participants-aborted', { ns })
    finishOperation(this.#catalog, this.#operation, false)
    await node.flushToMajority()
    reportState(this.#catalog, this.#operation, 'aborted')
    await reachIgnoringFault(node.context, 'config.resharding.aborted', { ns })
  }

  /**
   * Waits until no recipient is in one of these states.
   * @throws CommandError the error of a failed recipient
   */
  async #awaitRecipients(attempt: number, states: readonly ReshardingRecipientState[]): Promise<void> {
    const { context } = this.#catalog.node
    const { id, recipients } = this.#operation
    const awaitOne = async (recipient: string) => {
      let known: ReshardingRecipientState = states[0]!
      do {
        const { state, reason } = await this.#participants.ask(recipient, 'shard.resharding-status', {
          reshardingId: id,
          attempt,
          known,
        })
        raiseError(reason)
        known = state
      } while (states.includes(known))
    }
    await context.all(recipients.map(awaitOne))
  }

  /** Server: reshardingMinimumOperationDurationMillis. */
  async #awaitDuration(): Promise<void> {
    const { context, parameters } = this.#catalog.node
    const durationMs = parameters.number('reshardingMinimumOperationDurationMillis')
    // A clock that has been set back since the start does not make it longer.
    let leftMs = Math.min(durationMs, this.#operation.startedAtMs + durationMs - context.now())
    while (!this.#isHurried && leftMs > 0) {
      const pauseMs = Math.min(retryPauseMs, leftMs)
      await context.sleep(pauseMs, this.#abort.signal)
      leftMs -= pauseMs
    }
  }

  async #transition(changes: Partial<ReshardingOperation> & { readonly state: CoordinatorState }): Promise<void> {
    this.#check()
    const old = this.#operation.state
    this.#operation = { ...this.#operation, ...changes }
    if (old === changes.state) return
    writeState(this.#catalog, this.#operation, old)
    await this.#catalog.node.flushToMajority()
    this.#check()
    reportState(this.#catalog, this.#operation, changes.state)
  }

  /** @throws CommandError 341 ReshardCollectionAborted, 342 ReshardingCriticalSectionTimeout */
  #check(): void {
    if (this.#abort.signal.aborted) throw new CommandError('ReshardCollectionAborted', 'aborted')
    if (this.#deadlineMs !== null && this.#catalog.node.context.now() >= this.#deadlineMs)
      throw new CommandError('ReshardingCriticalSectionTimeout', 'Resharding critical section timed out.')
  }

  #isLost(error: unknown): boolean {
    if (this.#abort.signal.aborted) return false
    return error instanceof RequestFailedError || (error instanceof CommandError && lost.has(error.code))
  }

  #reasonOf(error: unknown): CommandError {
    if (this.#isAborted) return new CommandError('ReshardCollectionAborted', 'aborted')
    if (error instanceof CommandError) return error
    if (error instanceof StepFailedError) return new CommandError('OperationFailed', error.message)
    if (error instanceof RequestFailedError) return requestFailure(error)
    throw error
  }

  /** @throws StepFailedError when a fault fails the step; CommandError 341, 342 */
  async #reach(step: string): Promise<void> {
    await this.#catalog.node.context.reach(step, { ns: this.#operation.ns })
    this.#check()
  }
}

function storedReason({ abortReason }: ReshardingOperation): CommandError {
  const code = abortReason === null ? undefined : findField(abortReason, 'code')
  const message = abortReason === null ? undefined : findField(abortReason, 'errmsg')
  return new CommandError(code?.asNumber() ?? 341, message?.asString() ?? 'aborted')
}
