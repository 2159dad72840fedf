/**
 * The donor coordinates the migration. It owns the range until the config server has committed.
 * Records on its disk make sure that the migration is finished after a crash of either shard.
 * Server: migration_source_manager.cpp, README_migrations.
 */
import {
  configAddress,
  uuidV4,
  type MigrationDecision,
  type MigrationStage,
  type RecipientCounts,
  type RecipientState,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, ErrorCodes, findField } from '@shardlab/bson'
import { announceNewShard, catchUpKeys, raiseError } from '@shardlab/node'
import type { CollectionPlacement, PlacementVersion } from '@shardlab/sharding'
import { blockReads, drainWriters, type LockRequest } from '../../cloning/collection-lock.js'
import { logChange, logChangeIfReachable } from '../../common/changelog.js'
import { repeatedRequest } from '../../common/repeated-request.js'
import type { CriticalSection } from '../../host/host.js'
import { pendingTask } from '../../range-deletion/range-deletion-task.js'
import type { RangeSource } from '../../ranges/collection-ranges.js'
import type { KeyRange } from '../../ranges/key-range.js'
import type { MigrationCoordinator, MigrationEnding } from '../migration-coordinator.js'
import { emitMigration } from '../migration-events.js'
import type { MigrationHost } from '../migration-host.js'
import type { MigrationRecord } from '../migration-records.js'
import { commitDetails, moveDetails } from '../move-details.js'
import { MoveTiming, type DonorTiming } from '../move-timing.js'
import { donatedCollection, donatedPlacement, donatedRange, isNearlyCaughtUp, versionOfChunk } from './donor-checks.js'

const recipientRequest = { timeoutMs: 15_000, attemptsMax: 3 }
const commitTimeoutMs = 30_000
const catchUpMsMax = 6 * 60 * 60_000
/** For range deletions that an earlier migration has left on the donor. */
const drainRangeDeletionsMs = 10_000

/** For the changelog entry `moveChunk.start`. */
const startEntryTimeoutMs = 10_000

export class MigrationDonor {
  readonly #host: MigrationHost
  readonly #coordinator: MigrationCoordinator
  readonly #request: RequestOf<'shard.move-range'>
  readonly #timing: DonorTiming
  readonly #startedAtMs: number
  readonly id: Uint8Array
  source: RangeSource | null = null
  #range: KeyRange | null = null
  #hasEnded = false
  #counts: RecipientCounts = [0, 0, 0, 0]

  constructor(host: MigrationHost, coordinator: MigrationCoordinator, request: RequestOf<'shard.move-range'>) {
    const { context } = host.node
    this.#host = host
    this.#coordinator = coordinator
    this.#request = request
    this.#timing = MoveTiming.ofDonor(context)
    this.#startedAtMs = context.now()
    this.id = uuidV4(context.random)
  }

  /** Resolves when the recipient owns the range. @throws CommandError why it does not */
  async run(): Promise<void> {
    const { node, rangeDeleter } = this.#host
    const { ns, to, waitForDelete } = this.#request
    const from = node.context.address
    let logged: Promise<unknown> | null = null
    try {
      await this.#move()
      logged = this.#logCommit()
      if (waitForDelete) await rangeDeleter.waitForTask(this.id)
      this.#timing.done('committed')
    } finally {
      this.source?.close()
      // Changelog entries are stored in the order sent, so do not wait for the commit's entry here.
      if (this.#range !== null) await this.#timing.write(ns, this.#range, from, to)
      await logged
    }
  }

  async #move(): Promise<void> {
    const { node, critical, rangeDeleter } = this.#host
    const { context } = node
    const { ns, to } = this.#request
    this.#timing.done('requested')
    if (!this.#coordinator.isRecovered) await this.#coordinator.recovered()
    const placement = await donatedPlacement(this.#host, this.#request)
    const range = donatedRange(this.#host, this.#request, placement)
    this.#range = range
    if (
      !rangeDeleter.isClean(placement.uuid, range) &&
      !(await rangeDeleter.waitForClean(placement.uuid, range, drainRangeDeletionsMs))
    )
      throw new CommandError(
        'ExceededTimeLimit',
        'Failed to start new migration - a conflicting range deletion is still pending',
      )
    const chunkVersion = versionOfChunk(this.#host, placement, range)
    this.#timing.done('checked')
    let begun: MigrationRecord | null = null
    let section: CriticalSection | null = null
    try {
      const details = moveDetails(range, context.address, to).finish()
      await logChange(context, 'moveChunk.start', ns, details, { timeoutMs: startEntryTimeoutMs })
      await context.reach('shard.migration.started', { ns, to })
      begun = await this.#begin(placement, range, chunkVersion)
      this.#report('started')
      await this.#startRecipient(placement, range)
      this.#timing.done('recipient-started')
      await this.#catchUp()
      this.#timing.done('recipient-caught-up')
      if (placement.table.chunksOn(to) === 0) await this.#announceNewShard(placement)
      if (!context.mutated('criticalSectionOff'))
        section = critical.enterIfFree(ns, 'writes') ?? (await critical.enter(ns, 'writes'))
      this.#report('critical-section')
      await this.#commitOnRecipient()
      this.#timing.done('recipient-committed')
      await blockReads(this.#host, this.#lockRequest(), () => section)
      this.#host.migrationStatistics.noteCommitting(context.now() - this.#startedAtMs)
      await this.#commitOnConfig(range, chunkVersion)
      this.source!.close()
      await this.#coordinator.finish(begun, 'committed', section, this.#ending())
    } catch (error) {
      if (error instanceof CommandError && error.code === ErrorCodes.LockTimeout)
        this.#host.migrationStatistics.noteLockTimeout()
      // End the critical section before anything else.
      const decision = begun === null ? 'aborted' : await this.#resolve(begun, section)
      await logChangeIfReachable(context, 'moveChunk.error', ns, moveDetails(range, context.address, to).finish())
      if (decision === 'aborted') throw error
    }
  }

  async #announceNewShard({ ns, uuid }: CollectionPlacement): Promise<void> {
    const { node } = this.#host
    announceNewShard(node, { ns, uuid }, node.context.address, this.#request.to)
    await node.flushToMajority()
  }

  #logCommit(): Promise<unknown> {
    const { context } = this.#host.node
    const { ns, to } = this.#request
    const details = commitDetails(this.#range!, context.address, to, this.#counts)
    return logChangeIfReachable(context, 'moveChunk.commit', ns, details)
  }

  /**
   * Records the migration. Every later failure must end in a decision.
   * @throws CommandError those of {@link CollectionRanges.source}
   */
  async #begin(
    placement: CollectionPlacement,
    range: KeyRange,
    chunkVersion: PlacementVersion,
  ): Promise<MigrationRecord> {
    const { node, ranges, rangeDeleter } = this.#host
    const { ns, to, forceJumbo, maxChunkSizeBytes } = this.#request
    const { uuid, shardKey } = placement
    const cloned = { ns, uuid, shardKey, range }
    await catchUpKeys(node, null, donatedCollection(node, ns, uuid))
    this.source = ranges.of(donatedCollection(node, ns, uuid)).source(cloned, forceJumbo ? null : maxChunkSizeBytes)
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
    this.#coordinator.records.put(record)
    const described = { migrationId: this.id, ns, uuid, donor, keyPattern: shardKey.document }
    rangeDeleter.add(pendingTask(described, range, this.#request.waitForDelete ? 'now' : 'delayed'))
    try {
      await node.flushToMajority()
      await node.context.reach('shard.migration.begun', { ns, to })
    } catch (error) {
      await this.#resolve(record, null)
      throw error
    }
    return record
  }

  async #startRecipient({ shardKey, uuid }: CollectionPlacement, { min, max }: KeyRange): Promise<void> {
    const { clock, context } = this.#host.node
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
      secondaryThrottle: this.#request.secondaryThrottle,
      clusterTime: clock.time,
    })
    raiseError(error)
    await context.reach('shard.migration.recipient-asked', { ns, to })
  }

  /**
   * Waits until the recipient has all documents and few changes are left.
   * @throws CommandError 96, 146, 262, 11601
   */
  async #catchUp(): Promise<void> {
    const { context } = this.#host.node
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
          reason === null ? 'the recipient has aborted the migration' : findField(reason, 'errmsg')!.asString()
        throw new CommandError('OperationFailed', `Data transfer error: ${why}`)
      }
      if (state === 'catchup' && isNearlyCaughtUp(this.#host, this.#request, this.source!)) break
    }
    this.#report('cloned')
    await context.reach('shard.migration.caught-up', { ns: this.#request.ns })
  }

  /** Blocks writes, and waits until the recipient has all changes. */
  async #commitOnRecipient(): Promise<void> {
    const { node } = this.#host
    const { context } = node
    const { ns } = this.#request
    await drainWriters(this.#host, this.#lockRequest())
    // Earlier writes must be on the disk before the recipient pulls them.
    if (!node.isWritten) await node.flushToMajority()
    this.source!.check()
    await context.reach('shard.migration.writes-blocked', { ns })
    const { counts, clusterTime, error } = await this.#askRecipient('shard.receive-commit', { migrationId: this.id })
    raiseError(error)
    // The move must have a later time than the documents on the recipient.
    node.clock.advance(clusterTime)
    this.#counts = counts
    this.source!.check()
    await context.reach('shard.migration.recipient-committed', { ns })
  }

  /** @throws CommandError of the config server; RequestFailedError when the outcome is unknown */
  async #commitOnConfig({ min, max }: KeyRange, chunkVersion: PlacementVersion): Promise<void> {
    const { context, clock } = this.#host.node
    const { ns, to, plannedAt } = this.#request
    await context.reach('shard.migration.committing', { ns, to })
    const { clusterTime, error } = await context.request(
      configAddress,
      'config.commit-chunk-migration',
      { ns, min, max, from: context.address, to, chunkVersion, clusterTime: clock.time, plannedAt },
      { timeoutMs: commitTimeoutMs },
    )
    raiseError(error)
    clock.advance(clusterTime)
    await context.reach('shard.migration.committed', { ns, to })
  }

  async #resolve(record: MigrationRecord, section: CriticalSection | null): Promise<MigrationDecision> {
    this.source!.close()
    return this.#coordinator.resolve(record, section, this.#ending())
  }

  #ending(): MigrationEnding {
    return {
      documents: this.#counts[0],
      decided: (decision) => {
        // A failure after the decision leads to it again.
        if (this.#hasEnded) return
        this.#hasEnded = true
        this.#report(decision)
      },
    }
  }

  #lockRequest(): LockRequest {
    const timeoutMs = this.#host.node.parameters.number('migrationLockAcquisitionMaxWaitMS')
    return { ns: this.#request.ns, timeoutMs }
  }

  #askRecipient<K extends 'shard.receive-range' | 'shard.receive-status' | 'shard.receive-commit'>(
    kind: K,
    request: RequestOf<K>,
  ): Promise<ReplyOf<K>> {
    return repeatedRequest(this.#host.node.context, this.#request.to, kind, request, recipientRequest)
  }

  #report(stage: MigrationStage): void {
    const { context } = this.#host.node
    const [documents, bytes] = this.#counts
    const durationMs = context.now() - this.#startedAtMs
    this.#host.migrationStatistics.noteDonorStage(stage, [documents, bytes], durationMs)
    const { ns, to } = this.#request
    const migration = { id: this.id, ns, donor: context.address, recipient: to, range: this.#range! }
    emitMigration(context, migration, { stage, documents, bytes, durationMs })
  }
}
