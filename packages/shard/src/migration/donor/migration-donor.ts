/**
 * The donor's side of a migration, and its coordinator. Until the config server has committed, the range is the donor's; from then on it
 * is the recipient's; what is begun is on the disk, so that it is finished whoever crashes.
 * Server: migration_source_manager.cpp, migration_coordinator.cpp, README_migrations.
 */
import {
  configAddress,
  passedStep,
  uuidV4,
  type MigrationDecision,
  type MigrationEvent,
  type MigrationStage,
  type RecipientCounts,
  type RecipientState,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, findField, hexOf, toExtendedJson } from '@shardlab/bson'
import { raiseError } from '@shardlab/node'
import type { CollectionPlacement, PlacementVersion } from '@shardlab/sharding'
import { askAgain } from '../../common/repeated-request.js'
import { writersOut } from '../../cloning/drain-writers.js'
import type { CriticalSection } from '../../metadata/critical-sections.js'
import type { RangeSource } from '../../ranges/collection-ranges.js'
import { rangesOf } from '../../ranges/ranges-of.js'
import type { ShardParts } from '../../shard-parts.js'
import type { MigrationRecord } from '../migration-records.js'
import { donatedCollection, donatedPlacement, donatedRange, isNearlyCaughtUp, versionOfChunk } from './donor-checks.js'
import type { KeyRange } from '../../ranges/key-range.js'
import { pendingTask } from '../../range-deletion/range-deletion-task.js'
import { commitDetails, moveDetails, MoveTiming, noteChange, writeChange } from '../migration-log.js'

/** Longest wait for one answer of the recipient, and how often it is asked. */
const recipientPatience = { timeoutMs: 15_000, attemptsMax: 3 }
/** Longest wait for the config server to commit. */
const commitTimeoutMs = 30_000
/** Longest time until the recipient has caught up. */
const catchUpMsMax = 6 * 60 * 60_000
/** Longest wait for range deletions that an earlier migration has left on the donor. */
const drainRangeDeletionsMs = 10_000

const donorSteps = 6

export class Donation {
  readonly #parts: ShardParts
  readonly #request: RequestOf<'shard.move-range'>
  readonly #timing: MoveTiming
  readonly #startedAtMs: number
  readonly id: Uint8Array
  source: RangeSource | null = null
  #range: KeyRange | null = null
  /** What its events have in common; null: nobody has asked for it. */
  #label: Pick<MigrationEvent, 'id' | 'min' | 'max'> | null = null
  #counts: RecipientCounts = [0, 0, 0, 0]

  constructor(parts: ShardParts, request: RequestOf<'shard.move-range'>) {
    const { context } = parts.node
    this.#parts = parts
    this.#request = request
    this.#timing = new MoveTiming(context, 'from', donorSteps)
    this.#startedAtMs = context.now()
    this.id = uuidV4(context.random)
  }

  /** Resolves when the range is the recipient's. @throws CommandError why it is not */
  async run(): Promise<void> {
    const { node } = this.#parts
    const { ns, to, waitForDelete } = this.#request
    const from = node.context.address
    let noted: Promise<unknown> | null = null
    try {
      await this.#move()
      noted = this.#noteCommit()
      if (waitForDelete) await this.#parts.migrations.deleter.waitForTask(this.id)
      this.#timing.done()
    } finally {
      this.source?.close()
      // Both entries go one after the other, and nobody needs to know of the first one before the second is sent.
      if (this.#range !== null) await this.#timing.write(ns, this.#range, from, to)
      await noted
    }
  }

  async #move(): Promise<void> {
    const { node, migrations } = this.#parts
    const { context } = node
    const { ns, to } = this.#request
    this.#timing.done()
    if (!migrations.isRecovered) await migrations.recovered()
    const placement = await donatedPlacement(this.#parts, this.#request)
    const range = donatedRange(this.#parts, this.#request, placement)
    this.#range = range
    const { deleter } = migrations
    if (
      !deleter.isClean(placement.uuid, range) &&
      !(await deleter.waitForClean(placement.uuid, range, drainRangeDeletionsMs))
    )
      throw new CommandError(
        'ExceededTimeLimit',
        'Failed to start new migration - a conflicting range deletion is still pending',
      )
    const chunkVersion = versionOfChunk(this.#parts, placement, range)
    this.#timing.done()
    let begun: MigrationRecord | null = null
    let section: CriticalSection | null = null
    try {
      await writeChange(context, 'moveChunk.start', ns, moveDetails(range, context.address, to).finish())
      const started = context.reach('shard.migration.started', { ns, to })
      if (started !== passedStep) await started
      begun = await this.#begin(placement, range, chunkVersion)
      this.#tell('started')
      await this.#startRecipient(placement, range)
      this.#timing.done()
      await this.#catchUp()
      this.#timing.done()
      if (!context.mutated('criticalSectionOff'))
        section = this.#parts.critical.enterIfFree(ns, 'writes') ?? (await this.#parts.critical.enter(ns, 'writes'))
      this.#tell('critical-section')
      await this.#commitOnRecipient(placement)
      this.#timing.done()
      section?.blockReads()
      await this.#commitOnConfig(range, chunkVersion)
      await this.#settle(begun, 'committed', section)
    } catch (error) {
      // First of all nobody has to wait any longer.
      const decision = begun === null ? 'aborted' : await this.#resolve(begun, section)
      await noteChange(context, 'moveChunk.error', ns, moveDetails(range, context.address, to).finish())
      if (decision === 'aborted') throw error
    }
    this.#tell('committed')
  }

  #noteCommit(): Promise<unknown> {
    const { context } = this.#parts.node
    const { ns, to } = this.#request
    return noteChange(context, 'moveChunk.commit', ns, commitDetails(this.#range!, context.address, to, this.#counts))
  }

  /** From here on there is something to finish. @throws CommandError those of {@link CollectionRanges.source} */
  async #begin(
    placement: CollectionPlacement,
    range: KeyRange,
    chunkVersion: PlacementVersion,
  ): Promise<MigrationRecord> {
    const { node, migrations } = this.#parts
    const { ns, to, forceJumbo, maxChunkSizeBytes } = this.#request
    const { uuid, shardKey } = placement
    const hidden = () => this.#parts.documentMoves.coming.hiddenIn(uuid)
    const ranges = rangesOf(node, donatedCollection(node, ns, uuid))
    this.source = ranges.source({ ns, uuid, shardKey, range, hidden }, forceJumbo ? null : maxChunkSizeBytes)
    const donor = node.context.address
    const record: MigrationRecord = {
      id: this.id,
      ns,
      collectionUuid: uuid,
      donor,
      recipient: to,
      range,
      chunkVersion,
      decision: null,
    }
    migrations.records.put(record)
    const described = { migrationId: this.id, ns, uuid, donor, keyPattern: shardKey.document }
    migrations.deleter.add(pendingTask(described, range, this.#request.waitForDelete ? 'now' : 'delayed'))
    try {
      await node.flush()
      const begun = node.context.reach('shard.migration.begun', { ns, to })
      if (begun !== passedStep) await begun
    } catch (error) {
      await this.#resolve(record, null)
      throw error
    }
    return record
  }

  async #startRecipient({ shardKey, uuid }: CollectionPlacement, { min, max }: KeyRange): Promise<void> {
    const { context } = this.#parts.node
    const { ns, to } = this.#request
    const { collection } = this.source!
    const indexes = collection.indexes().map(({ spec }) => spec)
    const { error } = await this.#askRecipient('shard.receive-range', {
      migrationId: this.id,
      donor: context.address,
      ns,
      uuid,
      options: collection.options,
      indexes,
      keyPattern: shardKey.document,
      min,
      max,
    })
    raiseError(error)
    const asked = context.reach('shard.migration.recipient-asked', { ns, to })
    if (asked !== passedStep) await asked
  }

  /** Until the recipient has all documents and hardly lags behind. @throws CommandError 96, 146, 262, 11601 */
  async #catchUp(): Promise<void> {
    const { context } = this.#parts.node
    for (let state: RecipientState = 'ready'; state !== 'steady';) {
      this.source!.check()
      if (context.now() - this.#startedAtMs > catchUpMsMax)
        throw new CommandError('ExceededTimeLimit', 'Timed out waiting for the cloner to catch up')
      const reply: ReplyOf<'shard.receive-status'> = await this.#askRecipient('shard.receive-status', {
        migrationId: this.id,
      })
      raiseError(reply.error)
      state = reply.state
      this.#counts = reply.counts
      if (state === 'fail' || state === 'abort') {
        const { reason } = reply
        const why =
          reason === null ? 'the recipient has given the migration up' : findField(reason, 'errmsg')!.asString()
        throw new CommandError('OperationFailed', `Data transfer error: ${why}`)
      }
      if (state === 'catchup' && isNearlyCaughtUp(this.#parts, this.#request, this.source!)) break
    }
    this.#tell('cloned')
    const caughtUp = context.reach('shard.migration.caught-up', { ns: this.#request.ns })
    if (caughtUp !== passedStep) await caughtUp
  }

  /** Writers wait: the recipient takes what is left. */
  async #commitOnRecipient({ uuid }: CollectionPlacement): Promise<void> {
    const { node } = this.#parts
    const { context } = node
    const { ns } = this.#request
    await writersOut(this.#parts, ns, uuid)
    // What they did is followed, and has to be on the disk before the recipient takes it.
    if (!node.isWritten) await node.flush()
    this.source!.check()
    const writesBlocked = context.reach('shard.migration.writes-blocked', { ns })
    if (writesBlocked !== passedStep) await writesBlocked
    const { counts, error } = await this.#askRecipient('shard.receive-commit', { migrationId: this.id })
    raiseError(error)
    this.#counts = counts
    this.source!.check()
    const committed = context.reach('shard.migration.recipient-committed', { ns })
    if (committed !== passedStep) await committed
  }

  /** @throws CommandError what the config server refuses it with; RequestFailedError when nobody knows what it did */
  async #commitOnConfig({ min, max }: KeyRange, chunkVersion: PlacementVersion): Promise<void> {
    const { context, clock } = this.#parts.node
    const { ns, to } = this.#request
    const committing = context.reach('shard.migration.committing', { ns, to })
    if (committing !== passedStep) await committing
    const { error } = await context.request(
      configAddress,
      'config.commit-chunk-migration',
      { ns, min, max, from: context.address, to, chunkVersion, clusterTime: clock.time },
      { timeoutMs: commitTimeoutMs },
    )
    raiseError(error)
    const committed = context.reach('shard.migration.committed', { ns, to })
    if (committed !== passedStep) await committed
  }

  /** The config server has committed: the donor learns it, lets everybody go on, and tells the recipient. */
  #settle(record: MigrationRecord, decision: MigrationDecision, section: CriticalSection | null): Promise<void> {
    this.source!.close()
    return this.#parts.migrations.settle(record, decision, section, this.#counts[0])
  }

  /** Something failed: asks for the truth where it may be unknown, and ends the migration in the way that is decided then. */
  async #resolve(record: MigrationRecord, section: CriticalSection | null): Promise<MigrationDecision> {
    const { migrations } = this.#parts
    this.source!.close()
    const decision = await migrations.resolve(record, section, this.#counts[0])
    if (decision === 'aborted') this.#tell('aborted')
    return decision
  }

  /** @throws RequestFailedError when it does not answer */
  #askRecipient<K extends 'shard.receive-range' | 'shard.receive-status' | 'shard.receive-commit'>(
    kind: K,
    request: RequestOf<K>,
  ): Promise<ReplyOf<K>> {
    return askAgain(this.#parts.node.context, this.#request.to, kind, request, recipientPatience)
  }

  #tell(stage: MigrationStage): void {
    const { context } = this.#parts.node
    const [documents, bytes] = this.#counts
    const atMs = context.now()
    const durationMs = atMs - this.#startedAtMs
    this.#parts.migrations.statistics.noteDonation(stage, [documents, bytes], durationMs)
    if (!context.wants('migration')) return
    const { min, max } = this.#range!
    this.#label ??= { id: hexOf(this.id), min: toExtendedJson(min), max: toExtendedJson(max) }
    context.emit({
      type: 'migration',
      atMs,
      id: this.#label.id,
      ns: this.#request.ns,
      from: context.address,
      to: this.#request.to,
      min: this.#label.min,
      max: this.#label.max,
      stage,
      documents,
      bytes,
      durationMs,
    })
  }
}
