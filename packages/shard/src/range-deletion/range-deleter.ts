/**
 * Deletes the documents of ranges that this shard does not own, after the cursors that may read
 * them have ended and a delay.
 * Server: range_deleter_service.cpp; until 6.0 metadata_manager.cpp, range_deletion_util.cpp.
 * Parameters: orphanCleanupDelaySecs, rangeDeleterBatchSize, rangeDeleterBatchDelayMS.
 */
import { Cancellation, createDeferred, RequestFailedError, StepFailedError, type Deferred } from '@shardlab/actor'
import { CommandError, hexOf, sameBytes } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { DeletedSome, RangeStore } from '../ranges/collection-ranges.js'
import { DueRanges, type ScheduledDeletion } from './due-ranges.js'
import type { KeyRange } from '../ranges/key-range.js'
import type { RangeDeletionTask, TaskState } from './range-deletion-task.js'
import { RangeDeletionTasks } from './range-deletion-tasks.js'

export const rangeDeleterTimer = 'range-deleter'
/** In one turn of the event loop, whatever the batch size. */
const documentsPerTurnMax = 1000
const retryAfterMs = 10_000
/** Older timers are armed again: the clock may have been set, which does not move the timer. */
const rearmAfterMs = 60_000

const noCursors: readonly bigint[] = []

interface DeletionCounts {
  noteDeleted(documents: number, bytes: number): void
}

export class RangeDeleter {
  readonly tasks: RangeDeletionTasks
  readonly #node: NodeHost
  readonly #ranges: RangeStore
  readonly #counts: DeletionCounts
  readonly #scheduled = new DueRanges()
  /** Resolved when a task is removed; null: no waiters. */
  #progress: Deferred<void> | null = null
  #working = false
  /** null: not armed. */
  #armedForMs: number | null = null
  #armedAtMs = 0

  constructor(node: NodeHost, ranges: RangeStore, counts: DeletionCounts) {
    this.#node = node
    this.#ranges = ranges
    this.#counts = counts
    this.tasks = new RangeDeletionTasks(node)
  }

  start(): void {
    const { recoveredRangeDeletionWaitsForCursors } = this.#node.behaviours
    for (const task of this.tasks.all()) {
      if (task.pending) continue
      const cursors = recoveredRangeDeletionWaitsForCursors ? this.#readers(task) : noCursors
      this.#schedule(task.id, task.whenToClean, cursors)
    }
  }

  export(): readonly ScheduledDeletion[] {
    return [...this.#scheduled.all()]
  }

  /** Call instead of {@link start}. */
  import(scheduled: readonly ScheduledDeletion[]): void {
    for (const each of scheduled) this.#scheduled.put(each)
    // Cursors that the copy does not have count as ended.
    this.#cursorEnded()
    // The copy gets the timers of the original, whatever this call has armed.
    this.#armedForMs = null
  }

  namespacesInProgress(): string[] {
    return this.#working ? this.tasks.all().flatMap(({ processing, ns }) => (processing ? [ns] : [])) : []
  }

  /** Schedules the task unless it is pending. The caller flushes the node. */
  add(task: RangeDeletionTask): void {
    this.tasks.put(task)
    if (!task.pending) this.#schedule(task.id, task.whenToClean)
  }

  /**
   * Ends the pending state of a task. The caller flushes the node.
   * @param when null: as recorded in the task
   */
  release(id: Uint8Array, when: RangeDeletionTask['whenToClean'] | null, numOrphanDocs?: number): void {
    const task = this.tasks.changeState(id, (known) => {
      const whenToClean = when ?? known.whenToClean
      return known.pending ? { pending: false, whenToClean, numOrphanDocs: numOrphanDocs ?? known.numOrphanDocs } : null
    })
    if (task === undefined) return
    // Cursors do not read a range that this shard has never owned.
    this.#schedule(id, when ?? task.whenToClean, when === null ? this.#readers(task) : noCursors)
  }

  /** The caller flushes the node. */
  countOrphans(id: Uint8Array, documents: number): void {
    if (documents > 0) this.tasks.changeState(id, (known) => ({ numOrphanDocs: known.numOrphanDocs + documents }))
  }

  /** Removes the task: this shard owns the range. The caller flushes the node. */
  cancel(id: Uint8Array): void {
    this.tasks.remove(id)
    this.#scheduled.delete(hexOf(id))
    this.#progressed()
  }

  isClean(collectionUuid: Uint8Array, range: KeyRange | null): boolean {
    return !this.tasks.anyIn(collectionUuid, range)
  }

  /** Resolves when {@link isClean}; false after `timeoutMs`. */
  async waitForClean(collectionUuid: Uint8Array, range: KeyRange | null, timeoutMs: number | null): Promise<boolean> {
    const { context } = this.#node
    const deadlineMs = timeoutMs === null ? null : context.now() + timeoutMs
    while (this.tasks.anyIn(collectionUuid, range)) {
      const leftMs = deadlineMs === null ? null : deadlineMs - context.now()
      if (leftMs !== null && leftMs <= 0) return false
      if (leftMs === null) await this.#nextTaskGone()
      else await this.#nextProgress(leftMs)
    }
    return true
  }

  async waitForTask(id: Uint8Array): Promise<void> {
    while (this.tasks.has(id)) await this.#nextTaskGone()
  }

  /** Runs the due deletions one after the other. */
  async wake(): Promise<void> {
    this.#armedForMs = null
    if (this.#working) return
    this.#working = true
    try {
      for (let next = this.#nextDue(); next !== null; next = this.#nextDue()) await this.#run(next)
    } finally {
      this.#working = false
      this.#arm()
    }
  }

  #schedule(taskId: Uint8Array, whenToClean: TaskState['whenToClean'], cursors: readonly bigint[] = noCursors): void {
    const { context, parameters, behaviours } = this.#node
    const isDelayed = whenToClean !== 'now' && behaviours.orphanCleanupDelay !== 'none'
    const delayMs = isDelayed ? parameters.number('orphanCleanupDelaySecs') * 1000 : 0
    const countsAfterCursors = behaviours.orphanCleanupDelay === 'from-last-query'
    const id = hexOf(taskId)
    const dueAtMs = Math.min(this.#scheduled.get(id)?.dueAtMs ?? Infinity, context.now() + delayMs)
    this.#scheduled.put({ id, dueAtMs, cursors, delayMs: countsAfterCursors ? delayMs : 0 })
    this.#arm()
  }

  /** Open cursors from the time when this shard owned the range. */
  #readers({ collectionUuid }: RangeDeletionTask): readonly bigint[] {
    const { cursors, behaviours } = this.#node
    if (cursors.size === 0) return noCursors
    const ids: bigint[] = []
    for (const { id, source } of cursors) {
      const { reads } = source
      if (reads === undefined || !sameBytes(reads.uuid, collectionUuid)) continue
      if (reads.leavesOutOrphans || behaviours.rangeDeletionWaitsForAllCursors) ids.push(id)
    }
    return ids
  }

  /** A deletion that waited only for this cursor becomes due after its delay. */
  #cursorEnded(): void {
    const { cursors, context } = this.#node
    for (const scheduled of [...this.#scheduled.waitingForCursors()]) {
      const left = scheduled.cursors.filter((id) => cursors.find(id) !== undefined)
      const dueAtMs =
        left.length > 0 ? scheduled.dueAtMs : Math.max(scheduled.dueAtMs, context.now() + scheduled.delayMs)
      this.#scheduled.put({ ...scheduled, cursors: left, dueAtMs })
    }
    this.#arm()
  }

  #arm(): void {
    const { context, stopping, cursors } = this.#node
    cursors.onEnd = this.#scheduled.waitingForCursors().size > 0 ? () => this.#cursorEnded() : null
    const next = this.#scheduled.next()
    if (this.#working || next === undefined || stopping.signal.aborted) return
    const now = context.now()
    // Usually a new deletion is due after others.
    const isArmed = next.dueAtMs === this.#armedForMs && now >= this.#armedAtMs && now - this.#armedAtMs < rearmAfterMs
    if (isArmed && next.dueAtMs > now) return
    this.#armedForMs = next.dueAtMs
    this.#armedAtMs = now
    context.setTimer(rangeDeleterTimer, Math.max(0, next.dueAtMs - now))
  }

  #nextDue(): ScheduledDeletion | null {
    const next = this.#scheduled.next()
    return next === undefined || next.dueAtMs > this.#node.context.now() ? null : next
  }

  async #run({ id }: ScheduledDeletion): Promise<void> {
    const { context } = this.#node
    try {
      const task = this.tasks.changeState(Buffer.from(id, 'hex'), (known) =>
        known.processing ? null : { processing: true },
      )
      const done = task === undefined || (await this.#deleteRange(task))
      if (!done) throw new CommandError('IndexNotFound', `no index begins with the shard key of ${task.ns}`)
      this.#scheduled.delete(id)
      this.#progressed()
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof RequestFailedError || error instanceof StepFailedError))
        throw error
      const scheduled = this.#scheduled.get(id)
      if (scheduled !== undefined) this.#scheduled.put({ ...scheduled, dueAtMs: context.now() + retryAfterMs })
      context.log('warn', 'a range was not deleted', { reason: error.message })
    }
  }

  /**
   * @param task in the state processing
   * @returns false: without an index that begins with the shard key the documents cannot be found
   */
  async #deleteRange(task: RangeDeletionTask): Promise<boolean> {
    const node = this.#node
    const { context, parameters } = node
    const { id, ns, range, keyPattern } = task
    const startedAtMs = context.now()
    await node.flushToMajority()
    await context.reach('shard.range-deleter.started', { ns })
    let documents = 0
    let bytes = 0
    for (;;) {
      const collection = this.#collection(task)
      if (collection === undefined) break
      const deleted = this.#deleteSome(range, keyPattern, collection)
      if (deleted === null) return false
      documents += deleted.documents
      bytes += deleted.bytes
      this.#counts.noteDeleted(deleted.documents, deleted.bytes)
      if (deleted.documents === 0) break
      const lessOrphans = (known: TaskState) => ({
        numOrphanDocs: Math.max(0, known.numOrphanDocs - deleted.documents),
      })
      if (this.tasks.changeState(id, lessOrphans) === undefined) break
      await node.flushToMajority()
      await context.sleep(parameters.number('rangeDeleterBatchDelayMS') * deleted.turns, node.stopping.signal)
    }
    await context.reach('shard.range-deleter.emptied', { ns })
    this.tasks.remove(id)
    await node.flushToMajority()
    if (!context.wants('range-deleted')) return true
    context.emit({
      type: 'range-deleted',
      atMs: context.now(),
      shard: context.address,
      ns,
      documents,
      bytes,
      durationMs: context.now() - startedAtMs,
    })
    return true
  }

  #collection({ collectionUuid, ns }: RangeDeletionTask): Collection | undefined {
    const named = this.#node.collection(ns)
    if (named !== undefined && sameBytes(named.uuid, collectionUuid)) return named
    // A rename keeps the UUID.
    return this.#node.engine.collections().find(({ uuid }) => sameBytes(uuid, collectionUuid))
  }

  #deleteSome(range: KeyRange, keyPattern: Uint8Array, collection: Collection): DeletedSome | null {
    const batch = this.#node.parameters.number('rangeDeleterBatchSize')
    const most = batch === 0 ? documentsPerTurnMax : Math.min(batch, documentsPerTurnMax)
    return this.#ranges
      .of(collection)
      .deleteSome(range, ShardKeyPattern.parse(keyPattern, { compoundHashed: true }), most)
  }

  #progressed(): void {
    const progress = this.#progress
    this.#progress = null
    progress?.resolve()
  }

  #nextTaskGone(): Promise<void> {
    return (this.#progress ??= createDeferred()).promise
  }

  async #nextProgress(timeoutMs: number): Promise<void> {
    const waiting = new Cancellation()
    this.#node.context.detach(this.#nextTaskGone().then(() => waiting.abort()))
    try {
      await this.#node.context.sleep(timeoutMs, waiting)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
    }
  }
}
