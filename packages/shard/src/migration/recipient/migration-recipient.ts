/**
 * The recipient's side of a migration: it pulls the documents of a range, then what has changed, until the donor says that nothing more
 * comes. What it has received is not its own before the migration is decided: a pending range deletion stands for it.
 * Server: migration_destination_manager.cpp.
 */
import {
  Cancellation,
  createDeferred,
  passedStep,
  RequestFailedError,
  unpackRanges,
  type ErrorField,
  type RecipientCounts,
  type RecipientState,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { raiseError } from '@shardlab/node'
import { ShardKeyPattern } from '@shardlab/sharding'
import { askAgain, reasonOf, type RepeatedRequest } from '../../common/repeated-request.js'
import type { CriticalSection } from '../../metadata/critical-sections.js'
import { sizeOf, type Size } from '../../ranges/measured/sized-range.js'
import type { ShardParts } from '../../shard-parts.js'
import { KeyedRange, membershipOf, type KeyRange } from '../../ranges/key-range.js'
import { MoveTiming } from '../migration-log.js'
import { pendingTask } from '../../range-deletion/range-deletion-task.js'
import { prepareCollection } from './received-collection.js'
import { ReceivedChanges } from '../../ranges/stored/received-changes.js'
import { Happening } from '../waiting.js'

/** Longest wait for one answer of the donor, and how often it is asked. */
const donorPatience = { timeoutMs: 10_000, attemptsMax: 3 }
/** Between two looks at a donor from which nothing is expected. */
const heartbeatMs = 500
/** Longest time that a question for the state stays without an answer. */
const statusWaitMs = 1000

const isCatchingUp = (state: RecipientState): boolean => state === 'ready' || state === 'clone' || state === 'catchup'

/** The donor has never heard of the migration, or has forgotten it: nobody will decide it. */
export const unknownMigration = 47

export class Receipt {
  readonly request: RequestOf<'shard.receive-range'>
  readonly range: KeyRange
  readonly #parts: ShardParts
  readonly #changed: Happening
  readonly #ended = createDeferred<void>()
  readonly #stopping = new Cancellation()
  readonly #patience: RepeatedRequest = { ...donorPatience, signal: this.#stopping }
  readonly #timing: MoveTiming
  #state: RecipientState = 'ready'
  #reason: CommandError | null = null
  #cloned = 0
  #clonedBytes = 0
  #caughtUp = 0
  #steady = 0
  #modsBatch = 0
  #mayCommit = false
  #released = false

  constructor(parts: ShardParts, request: RequestOf<'shard.receive-range'>) {
    const { context, behaviours } = parts.node
    this.#parts = parts
    this.request = request
    this.range = new KeyedRange(request.min, request.max)
    this.#changed = new Happening(context)
    this.#timing = new MoveTiming(context, 'to', behaviours.moveChunkToSteps)
  }

  /** Resolves when nothing of it is running any more. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get counts(): RecipientCounts {
    return [this.#cloned, this.#clonedBytes, this.#caughtUp, this.#steady]
  }

  /** How far it is; waits a while until it has caught up, or has ended. */
  async status(): Promise<
    Pick<ReplyOf<'shard.receive-status'>, 'state' | 'counts'> & { readonly reason: CommandError | null }
  > {
    if (isCatchingUp(this.#state)) await this.#changed.next(statusWaitMs)
    return { state: this.#state, counts: this.counts, reason: this.#reason }
  }

  /** The donor's writers wait: takes what is left. @throws CommandError what it failed with */
  async commit(): Promise<RecipientCounts> {
    this.#mayCommit = true
    this.#changed.notify()
    while (this.#state !== 'done') {
      if (this.#state === 'fail' || this.#state === 'abort')
        throw this.#reason ?? new CommandError('OperationFailed', 'the recipient has given the migration up')
      await this.#changed.next(statusWaitMs)
    }
    return this.counts
  }

  /** The migration is committed. */
  release(): void {
    this.#released = true
    this.#changed.notify()
  }

  /** Stops; what it is waiting for is no longer applied. */
  abort(): void {
    this.#enter('abort')
    this.#stopping.abort()
  }

  /** Does everything; never throws. What failed is told by {@link status}. */
  async run(): Promise<void> {
    const { node } = this.#parts
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
      // The donor has forgotten it, so nobody else will say what becomes of the documents.
      if (reason.code === unknownMigration) this.#parts.migrations.deleter.release(migrationId, 'now')
    }
    this.#ended.resolve()
    const { ns, donor } = this.request
    await this.#timing.write(ns, this.range, donor, node.context.address, this.#reason?.message ?? null)
  }

  async #receive(): Promise<void> {
    const { node, state, migrations } = this.#parts
    const { context, parameters } = node
    const { ns, uuid, keyPattern } = this.request
    migrations.statistics.noteReceipt()
    const started = context.reach('shard.migration.recipient-started', { ns })
    if (started !== passedStep) await started
    const { deleter } = migrations
    const cleanTimeoutMs = parameters.number('receiveChunkWaitForRangeDeleterTimeoutMS')
    if (!deleter.isClean(uuid, this.range) && !(await deleter.waitForClean(uuid, this.range, cleanTimeoutMs))) {
      throw new CommandError(
        'ExceededTimeLimit',
        "Migration failed because the orphans cleanup routine didn't clear yet a portion of the range being migrated that was previously owned by the recipient shard.",
      )
    }
    this.#check()
    const placement = await state.refreshCollection(ns)
    this.#check()
    // Its drop may have been here already: nobody would remove what came after it.
    if (placement === null || !sameBytes(placement.uuid, uuid))
      throw new CommandError('NamespaceNotFound', `collection ${ns} was dropped while the migration began`)
    prepareCollection(node, this.request, placement.table.chunksOn(context.address) === 0)
    this.#timing.done()
    deleter.add(pendingTask(this.request, this.range, 'now'))
    await node.flush()
    this.#timing.done()
    const prepared = context.reach('shard.migration.recipient-prepared', { ns })
    if (prepared !== passedStep) await prepared
    const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
    const changes = new ReceivedChanges(this.#parts, ns, uuid, membershipOf(this.range, shardKey))
    this.#enter('clone')
    await this.#clone(changes)
    this.#timing.done()
    const cloned = context.reach('shard.migration.recipient-cloned', { ns })
    if (cloned !== passedStep) await cloned
    this.#enter('catchup')
    this.#caughtUp += await this.#drain(changes)
    this.#timing.done()
    this.#enter('steady')
    const steady = context.reach('shard.migration.recipient-steady', { ns })
    if (steady !== passedStep) await steady
    while (!this.#mayCommit) {
      await this.#changed.next(heartbeatMs)
      this.#check()
      // What is left by now is taken when nobody writes any more.
      if (!this.#mayCommit) this.#steady += await this.#drain(changes)
    }
    this.#timing.done()
    await this.#finish(changes)
  }

  /** Nobody writes to the range any more: takes the rest, and keeps writers away until the donor has let go. */
  async #finish(changes: ReceivedChanges): Promise<void> {
    const { node, critical, state } = this.#parts
    const { ns } = this.request
    this.#enter('commitStart')
    const draining = node.context.reach('shard.migration.recipient-draining', { ns })
    if (draining !== passedStep) await draining
    this.#steady += await this.#drain(changes)
    let section: CriticalSection | null = null
    try {
      section = critical.enterIfFree(ns, 'writes') ?? (await critical.enter(ns, 'writes'))
      this.#check()
      this.#timing.done()
      if (!node.isWritten) await node.flush()
      this.#enter('done')
      const done = node.context.reach('shard.migration.recipient-done', { ns })
      if (done !== passedStep) await done
      await this.#awaitRelease(changes)
      // What the router sends to all owners must meet the new placement.
      if (this.#released) await state.refreshCollection(ns)
      this.#timing.done()
    } finally {
      section?.leave()
    }
    this.#timing.done()
  }

  async #awaitRelease(changes: ReceivedChanges): Promise<void> {
    while (!this.#released) {
      await this.#changed.next(heartbeatMs)
      this.#check()
      if (this.#released) return
      try {
        await this.#drain(changes)
      } catch (error) {
        // A donor that is away tells the outcome when it is back; nobody can write to the range before that.
        if (!(error instanceof RequestFailedError || error instanceof CommandError)) throw error
        this.#check()
        return
      }
    }
  }

  async #clone(changes: ReceivedChanges): Promise<void> {
    const { node, migrations } = this.#parts
    const { migrationId } = this.request
    for (let batch = 0; ; batch++) {
      const documentsMax = node.parameters.number('migrateCloneInsertionBatchSize')
      const { documents, sizes, last } = await this.#ask('shard.migrate-clone', { migrationId, batch, documentsMax })
      const received = sizes === null ? changes.store(documents) : await this.#receiveSizes(changes, sizes)
      this.#cloned += received.documents
      this.#clonedBytes += received.bytes
      migrations.statistics.noteCloned(received)
      migrations.deleter.countOrphans(migrationId, received.documents)
      await node.flush()
      this.#check()
      const batchStored = node.context.reach('shard.migration.recipient-batch-stored', { batch })
      if (batchStored !== passedStep) await batchStored
      this.#check()
      if (last) return
    }
  }

  /** What would have been sent takes its time. */
  async #receiveSizes(changes: ReceivedChanges, sizes: Uint8Array): Promise<Size> {
    const { node, measured } = this.#parts
    const ranges = unpackRanges(sizes)
    await node.context.sleep(measured.cloneMs(sizeOf(ranges).bytes), this.#stopping)
    this.#check()
    return changes.grow(ranges)
  }

  /** Pulls until nothing has changed; how many documents had. */
  async #drain(changes: ReceivedChanges): Promise<number> {
    const { node, migrations } = this.#parts
    const { migrationId } = this.request
    if (node.context.mutated('catchUpOff')) return 0
    let count = 0
    for (;;) {
      const mods = await this.#ask('shard.transfer-mods', { migrationId, batch: this.#modsBatch })
      this.#modsBatch++
      const { deleted, reloaded, sessions, sizes } = mods
      changes.remove(deleted)
      const received = sizes === null ? changes.store(reloaded) : changes.grow(unpackRanges(sizes))
      migrations.statistics.noteCaughtUp(received)
      if (sessions !== null && !node.context.mutated('sessionMigrationOff')) changes.remember(sessions)
      const changed = deleted.length + received.documents
      if (changed === 0 && sessions === null) return count
      count += changed
      await node.flush()
      this.#check()
    }
  }

  /** @throws CommandError of the donor; RequestFailedError */
  async #ask<K extends 'shard.migrate-clone' | 'shard.transfer-mods'>(
    kind: K,
    request: RequestOf<K>,
  ): Promise<ReplyOf<K>> {
    const { context } = this.#parts.node
    const reply = await askAgain(context, this.request.donor, kind, request, this.#patience)
    this.#check()
    raiseError((reply as { readonly error: ErrorField }).error)
    return reply
  }

  /** @throws CommandError 11601 Interrupted once it was given up */
  #check(): void {
    if (this.#state === 'abort') throw new CommandError('Interrupted', 'the migration was aborted')
  }

  #enter(state: RecipientState): void {
    if (this.#state === 'abort') return
    this.#state = state
    // Nobody waits for a state before that.
    if (!isCatchingUp(state)) this.#changed.notify()
  }
}
