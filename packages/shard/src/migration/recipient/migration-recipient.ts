/**
 * Pulls the documents of a range and then their changes, until the donor has no more. The recipient
 * does not own them before the decision: a pending range deletion records that.
 * Server: migration_destination_manager.cpp.
 */
import {
  Cancellation,
  createDeferred,
  RequestFailedError,
  type ErrorField,
  type RecipientCounts,
  type RecipientState,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { isFullDisk, raiseError, retryUntilDone } from '@shardlab/node'
import { ShardKeyPattern } from '@shardlab/sharding'
import { importSessions } from '../../cloning/import-sessions.js'
import { reasonOf, repeatedRequest, type RepeatedRequest } from '../../common/repeated-request.js'
import { Signal } from '../../common/signal.js'
import type { CriticalSection } from '../../host/host.js'
import { pendingTask } from '../../range-deletion/range-deletion-task.js'
import type { RangeSink } from '../../ranges/collection-ranges.js'
import { KeyedRange, type KeyRange } from '../../ranges/key-range.js'
import type { MigrationHost } from '../migration-host.js'
import { throttleBySecondaries } from '../secondary-throttle.js'
import { MoveTiming, type RecipientTiming } from '../move-timing.js'
import { prepareCollection } from './received-collection.js'

const donorRequest = { timeoutMs: 10_000, attemptsMax: 3 }
/** While the donor has no new changes. */
const heartbeatMs = 500
/** A status reply is held back this long while the recipient catches up. */
const statusWaitMs = 1000

const isCatchingUp = (state: RecipientState): boolean => state === 'ready' || state === 'clone' || state === 'catchup'

/** The donor has no record of the migration (any more), so no decision will come. */
export const unknownMigration = 47

export class MigrationRecipient {
  readonly request: RequestOf<'shard.receive-range'>
  readonly range: KeyRange
  readonly #host: MigrationHost
  readonly #changed: Signal
  readonly #ended = createDeferred<void>()
  readonly #stopping = new Cancellation()
  readonly #donorRequest: RepeatedRequest = { ...donorRequest, signal: this.#stopping }
  readonly #timing: RecipientTiming
  #state: RecipientState = 'ready'
  #reason: CommandError | null = null
  #cloned = 0
  #clonedBytes = 0
  #caughtUp = 0
  #steady = 0
  #modsBatch = 0
  #mayCommit = false
  #released = false

  constructor(host: MigrationHost, request: RequestOf<'shard.receive-range'>) {
    const { context, behaviours } = host.node
    this.#host = host
    this.request = request
    this.range = new KeyedRange(request.min, request.max)
    this.#changed = new Signal(context)
    this.#timing = MoveTiming.ofRecipient(context, behaviours.moveChunkToSteps)
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get counts(): RecipientCounts {
    return [this.#cloned, this.#clonedBytes, this.#caughtUp, this.#steady]
  }

  /** Waits a while when the recipient is still catching up. */
  async status(): Promise<
    Pick<ReplyOf<'shard.receive-status'>, 'state' | 'counts'> & { readonly reason: CommandError | null }
  > {
    if (isCatchingUp(this.#state)) await this.#changed.next(statusWaitMs)
    return { state: this.#state, counts: this.counts, reason: this.#reason }
  }

  /**
   * Pulls the remaining changes, after the donor has blocked writes.
   * @throws CommandError why it failed
   */
  async commit(): Promise<RecipientCounts> {
    this.#mayCommit = true
    this.#changed.notify()
    while (this.#state !== 'done') {
      if (this.#state === 'fail' || this.#state === 'abort')
        throw this.#reason ?? new CommandError('OperationFailed', 'the recipient has aborted the migration')
      await this.#changed.next(statusWaitMs)
    }
    return this.counts
  }

  /** The migration is committed. */
  release(): void {
    this.#released = true
    this.#changed.notify()
  }

  /** Stops; outstanding replies are ignored. */
  abort(): void {
    this.#enter('abort')
    this.#stopping.abort()
  }

  /** Receives the range; never throws. {@link status} reports the error. */
  async run(): Promise<void> {
    const { node } = this.#host
    try {
      await this.#receive()
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === null) throw error
      if (this.#state !== 'abort') {
        this.#reason = reason
        this.#enter('fail')
      }
      const { migrationId, ns } = this.request
      node.context.log('warn', 'a range was not received', { ns, reason: reason.message })
      // No decision will come, so this shard has to delete the documents itself.
      if (reason.code === unknownMigration) {
        this.#host.rangeDeleter.release(migrationId, 'now')
        await retryUntilDone(node, () => node.flushToMajority(), isFullDisk)
      }
    }
    this.#ended.resolve()
    const { ns, donor } = this.request
    await this.#timing.write(ns, this.range, donor, node.context.address, this.#reason?.message ?? null)
  }

  async #receive(): Promise<void> {
    const { node, placements, ranges, rangeDeleter, migrationStatistics } = this.#host
    const { context, parameters } = node
    const { ns, uuid, keyPattern } = this.request
    migrationStatistics.noteReceiving()
    await context.reach('shard.migration.recipient-started', { ns })
    const isClean =
      rangeDeleter.isClean(uuid, this.range) ||
      (await rangeDeleter.waitForClean(uuid, this.range, parameters.number('receiveChunkWaitForRangeDeleterTimeoutMS')))
    if (!isClean) {
      throw new CommandError(
        'ExceededTimeLimit',
        "Migration failed because the orphans cleanup routine didn't clear yet a portion of the range being migrated that was previously owned by the recipient shard.",
      )
    }
    this.#check()
    const placement = await placements.refreshCollection(ns)
    this.#check()
    // If the collection was dropped meanwhile, nothing would remove one created now.
    if (placement === null || !sameBytes(placement.uuid, uuid))
      throw new CommandError('NamespaceNotFound', `collection ${ns} was dropped while the migration began`)
    prepareCollection(node, this.request, placement.table.chunksOn(context.address) === 0)
    const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
    const sink = ranges.of(node.collection(ns)!).sink({ range: this.range, shardKey, stopping: this.#stopping })
    this.#timing.done('collection-created')
    rangeDeleter.add(pendingTask(this.request, this.range, 'now'))
    await node.flushToMajority()
    this.#timing.done('range-deletion-recorded')
    await context.reach('shard.migration.recipient-prepared', { ns })
    this.#enter('clone')
    await this.#clone(sink)
    this.#timing.done('clone-finished')
    await context.reach('shard.migration.recipient-cloned', { ns })
    this.#enter('catchup')
    this.#caughtUp += await this.#drain(sink)
    this.#timing.done('caught-up')
    this.#enter('steady')
    await context.reach('shard.migration.recipient-steady', { ns })
    while (!this.#mayCommit) {
      await this.#changed.next(heartbeatMs)
      this.#check()
      // Once the donor has blocked writes, the final drain takes what is left.
      if (!this.#mayCommit) this.#steady += await this.#drain(sink)
    }
    this.#timing.done('commit-requested')
    await this.#finish(sink)
  }

  /**
   * The donor has blocked writes: pulls the rest, and blocks writes here until the donor has
   * released the range.
   */
  async #finish(sink: RangeSink): Promise<void> {
    const { node, critical, migrationStatistics, placements } = this.#host
    const { ns } = this.request
    this.#enter('commitStart')
    await node.context.reach('shard.migration.recipient-draining', { ns })
    this.#steady += await this.#drain(sink)
    let section: CriticalSection | null = null
    let enteredAtMs = 0
    try {
      section = critical.enterIfFree(ns, 'writes') ?? (await critical.enter(ns, 'writes'))
      enteredAtMs = node.context.now()
      this.#check()
      this.#timing.done('critical-section-entered')
      if (!node.isWritten) await node.flushToMajority()
      // From here on the migration may commit, and this shard may serve reads of the range before
      // the decision of the donor arrives.
      node.transactions.noteArrival(ns)
      this.#enter('done')
      await node.context.reach('shard.migration.recipient-done', { ns })
      await this.#awaitRelease(sink)
      // Refresh before unblocking: commands that routers send to all owners must be checked against
      // the new placement.
      if (this.#released) await placements.refreshCollection(ns)
      this.#timing.done('released')
    } finally {
      // The server refuses transactions that began before the commit.
      node.transactions.noteArrival(ns)
      section?.leave()
      if (section !== null) migrationStatistics.noteCriticalSection(node.context.now() - enteredAtMs)
    }
    this.#timing.done('critical-section-left')
  }

  async #awaitRelease(sink: RangeSink): Promise<void> {
    while (!this.#released) {
      await this.#changed.next(heartbeatMs)
      this.#check()
      if (this.#released) return
      try {
        await this.#drain(sink)
      } catch (error) {
        // The donor sends its decision later, after a restart if it is down. Without a decision
        // this shard accepts a command for the range only if the config server has committed the
        // migration, so it can leave the critical section.
        if (!(error instanceof RequestFailedError || error instanceof CommandError)) throw error
        this.#check()
        return
      }
    }
  }

  async #clone(sink: RangeSink): Promise<void> {
    const { node, rangeDeleter, migrationStatistics } = this.#host
    const { migrationId, secondaryThrottle } = this.request
    for (let batch = 0; ; batch++) {
      const documentsMax = node.parameters.number('migrateCloneInsertionBatchSize')
      const cloned = await this.#ask('shard.migrate-clone', { migrationId, batch, documentsMax })
      const received = await sink.store(cloned)
      this.#cloned += received.documents
      this.#clonedBytes += received.bytes
      migrationStatistics.noteCloned(received)
      rangeDeleter.countOrphans(migrationId, received.documents)
      await node.flush()
      if (secondaryThrottle !== null) await throttleBySecondaries(node, secondaryThrottle)
      if (cloned.last) await node.flushToMajority()
      this.#check()
      await node.context.reach('shard.migration.recipient-batch-stored', { ns: this.request.ns, batch })
      this.#check()
      if (cloned.last) return
    }
  }

  /** @returns the number of changes */
  async #drain(sink: RangeSink): Promise<number> {
    const { node, migrationStatistics } = this.#host
    const { migrationId } = this.request
    if (node.context.mutated('catchUpOff')) return 0
    let count = 0
    for (;;) {
      const mods = await this.#ask('shard.transfer-mods', { migrationId, batch: this.#modsBatch })
      this.#modsBatch++
      const { deleted, sessions } = mods
      const received = sink.apply(mods)
      migrationStatistics.noteCaughtUp(received)
      if (sessions !== null && !node.context.mutated('sessionMigrationOff')) importSessions(node, sessions)
      const changed = deleted.length + received.documents
      if (changed === 0 && sessions === null) return count
      count += changed
      await node.flushToMajority()
      this.#check()
    }
  }

  async #ask<K extends 'shard.migrate-clone' | 'shard.transfer-mods'>(
    kind: K,
    request: RequestOf<K>,
  ): Promise<ReplyOf<K>> {
    const { context } = this.#host.node
    const reply = await repeatedRequest(context, this.request.donor, kind, request, this.#donorRequest)
    this.#check()
    raiseError((reply as { readonly error: ErrorField }).error)
    return reply
  }

  #check(): void {
    if (this.#state === 'abort') throw new CommandError('Interrupted', 'the migration was aborted')
  }

  #enter(state: RecipientState): void {
    if (this.#state === 'abort') return
    this.#state = state
    // The donor does not wait for earlier states.
    if (!isCatchingUp(state)) this.#changed.notify()
  }
}
