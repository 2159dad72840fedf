/**
 * All that a shard does for migrations: ranges that it gives away, receives and deletes, and what an earlier life has left unfinished.
 * Server: migration_util.cpp (recovery), migration_coordinator.cpp.
 */
import { configAddress, passedStep, RequestFailedError, type MigrationDecision, type RequestOf } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { reachAnyway, untilDone } from '@shardlab/node'
import type { CriticalSection } from '../metadata/critical-sections.js'
import type { ShardParts } from '../shard-parts.js'
import { MigrationStatistics } from './migration-statistics.js'
import { ActiveMigrations } from './active-migrations.js'
import { MigrationRecords, type MigrationRecord } from './migration-records.js'
import { Donation } from './donor/migration-donor.js'
import { ownerOfRange } from '../ranges/key-range.js'
import { RangeDeleter } from '../range-deletion/range-deleter.js'
import { Receipt, unknownMigration } from './recipient/migration-recipient.js'
import { Happening } from './waiting.js'

/** Longest wait for one answer, and the pause before the next attempt. */
const answerTimeoutMs = 15_000
const retryPauseMs = 250
/** Longest wait of a new migration for those that are being finished. */
const recoveryTimeoutMs = 20_000

export class Migrations {
  readonly records: MigrationRecords
  readonly deleter: RangeDeleter
  readonly statistics = new MigrationStatistics()
  readonly #parts: () => ShardParts
  readonly #active: ActiveMigrations
  readonly #finished: Happening
  /** Migrations that are decided or being decided, and whose other side does not know it yet. */
  #unfinished = 0
  #donation: Donation | null = null
  #receipt: Receipt | null = null

  /** @param parts those of the shard; they exist once it is made */
  constructor(parts: () => ShardParts, node: ShardParts['node']) {
    this.#parts = parts
    this.#active = new ActiveMigrations(node.behaviours)
    this.records = new MigrationRecords(node)
    this.deleter = new RangeDeleter(node, this.statistics)
    this.#finished = new Happening(node.context)
  }

  /** After a restart: nobody touches a collection whose migration may have been committed before that is known. */
  start(): void {
    this.deleter.start()
    const { node, critical } = this.#parts()
    for (const record of this.records.all()) {
      // While a resharding blocks the collection, no commit of a migration can succeed any more.
      const isFree = critical.blocking(record.ns) === undefined
      const section = record.decision === null && isFree ? critical.enterNow(record.ns, 'all') : null
      node.context.detach(this.#recover(record, section))
    }
  }

  /** Migrations that run or are not settled, as parts of a sentence about this shard. */
  names(): string[] {
    const running = this.#active.names()
    return running.length > 0
      ? running
      : this.records.all().map(({ ns, recipient }) => `settles a migration of ${ns} to ${recipient}`)
  }

  /** @throws CommandError why the range was not moved */
  moveRange(request: RequestOf<'shard.move-range'>): Promise<void> {
    return this.#active.donate(request, () => this.#donate(request))
  }

  async #donate(request: RequestOf<'shard.move-range'>): Promise<void> {
    const donation = new Donation(this.#parts(), request)
    this.#donation = donation
    try {
      await donation.run()
    } finally {
      this.#donation = null
    }
  }

  /** Runs a split or merge while no range of the collection is given away. */
  changeChunks<T>(ns: string, work: () => Promise<T>): Promise<T> {
    return this.#active.changeChunks(ns, work)
  }

  /** The donation that a recipient asks about. @throws CommandError 47 when there is none, 94 when it is being finished */
  donation(migrationId: Uint8Array): NonNullable<Donation['source']> {
    const donation = this.#donation
    if (donation !== null && donation.source !== null && sameBytes(donation.id, migrationId)) {
      donation.source.check()
      return donation.source
    }
    if (this.records.has(migrationId)) throw new CommandError('NotYetInitialized', 'the migration is being finished')
    throw new CommandError(unknownMigration, 'there is no such migration')
  }

  /** Begins to receive. Asking again for the one that is running changes nothing. @throws CommandError 117 */
  receive(request: RequestOf<'shard.receive-range'>): void {
    if (this.#receipt !== null && sameBytes(this.#receipt.request.migrationId, request.migrationId)) return
    const parts = this.#parts()
    const receipt = new Receipt(parts, request)
    const end = this.#active.receive({ ns: request.ns, range: receipt.range, from: request.donor })
    this.#receipt = receipt
    parts.node.context.detach(receipt.ended.then(end))
    parts.node.context.detach(receipt.run())
  }

  /** @throws CommandError 77 OperationIncomplete when it is not this one that is being received: the shard has restarted since */
  receipt(migrationId: Uint8Array): Receipt {
    if (this.#receipt === null) {
      throw new CommandError(
        'OperationIncomplete',
        'Unable to retrieve the id of the migration session due to NoSuchKey: Missing expected field "sessionId"',
      )
    }
    if (!sameBytes(this.#receipt.request.migrationId, migrationId))
      throw new CommandError('OperationIncomplete', 'Destination shard aborted migration because a new one is running')
    return this.#receipt
  }

  /** Collections are dropped: nothing more is received for them. The catalog has forgotten them, so no receipt begins again. */
  forsake(isDropped: (ns: string) => boolean): void {
    if (this.#receipt !== null && isDropped(this.#receipt.request.ns)) this.#receipt.abort()
  }

  /** The recipient hears how the migration ended. */
  async heed(migrationId: Uint8Array, decision: MigrationDecision): Promise<void> {
    const { node } = this.#parts()
    const receipt =
      this.#receipt !== null && sameBytes(this.#receipt.request.migrationId, migrationId) ? this.#receipt : null
    if (decision === 'committed') {
      this.deleter.cancel(migrationId)
      await node.flush()
      const released = node.context.reach('shard.migration.recipient-released', {})
      if (released !== passedStep) await released
      receipt?.release()
    } else receipt?.abort()
    if (receipt !== null) await receipt.ended
    if (decision === 'aborted') {
      this.deleter.release(migrationId, 'now')
      await node.flush()
    }
  }

  /**
   * Writes the decision down and carries it out: on this shard now, on the recipient as soon as it answers.
   * @param section where everybody waits; left once this shard knows the placement
   */
  async settle(
    record: MigrationRecord,
    decision: MigrationDecision,
    section: CriticalSection | null,
    documents: number,
  ): Promise<void> {
    const { node } = this.#parts()
    const { context } = node
    try {
      if (decision === 'committed') await this.#learn(record)
      this.records.decide(record.id, decision)
      await node.flush()
      const decided = reachAnyway(context, 'shard.migration.decided', { ns: record.ns, decision })
      if (decided !== passedStep) await decided
    } finally {
      section?.leave()
    }
    if (decision === 'committed') this.deleter.release(record.id, null, documents)
    else this.deleter.cancel(record.id)
    await node.flush()
    const settled = reachAnyway(context, 'shard.migration.settled', { ns: record.ns, decision })
    if (settled !== passedStep) await settled
    if (await this.#tellRecipient(record, decision)) return
    context.log('warn', 'the recipient of a migration does not answer', { ns: record.ns, recipient: record.recipient })
    this.#unfinished++
    context.detach(this.#tellUntilHeard(record, decision))
  }

  /** What became of a migration of which this shard does not know it; ends it. */
  async resolve(
    record: MigrationRecord,
    section: CriticalSection | null,
    documents: number,
  ): Promise<MigrationDecision> {
    // Without a critical section nothing can have been committed.
    const decision = section === null ? 'aborted' : await this.#askConfig(record)
    await this.settle(record, decision, section, documents)
    return decision
  }

  /** Is nothing of earlier migrations left to be done? */
  get isRecovered(): boolean {
    return this.#unfinished === 0
  }

  /** Resolves when {@link isRecovered}. @throws CommandError 117 */
  async recovered(): Promise<void> {
    const { context } = this.#parts().node
    const untilMs = context.now() + recoveryTimeoutMs
    while (this.#unfinished > 0) {
      const leftMs = untilMs - context.now()
      if (leftMs <= 0) {
        throw new CommandError(
          'ConflictingOperationInProgress',
          'Unable to start new balancer operation because an earlier migration of this shard has not been finished yet',
        )
      }
      await this.#finished.next(leftMs)
    }
  }

  async #recover(record: MigrationRecord, section: CriticalSection | null): Promise<void> {
    this.#unfinished++
    try {
      const decision = record.decision ?? (await this.#askConfig(record))
      const count = this.deleter.tasks.get(record.id)?.numOrphanDocs ?? 0
      await this.settle(record, decision, section, count)
    } catch (error) {
      if (!(error instanceof CommandError) && !isShutdown(error)) throw error
      this.#parts().node.context.log('warn', 'a migration was not finished', {
        ns: record.ns,
        reason: (error as Error).message,
      })
    } finally {
      this.#unfinished--
      this.#finished.notify()
    }
  }

  /** Nothing that is still on its way can commit the migration any more; then the owner of the range tells what was. */
  async #askConfig({ ns, collectionUuid, range, chunkVersion }: MigrationRecord): Promise<MigrationDecision> {
    const { node, state } = this.#parts()
    const { context } = node
    const request = { ns, uuid: collectionUuid, ...range, version: chunkVersion }
    for (let asked: string | null = null; ;) {
      // It may be renamed meanwhile: that does not undo what was committed before.
      const { ns: name } = await untilDone(node, () =>
        context.request(configAddress, 'config.ensure-chunk-version-is-greater-than', request, {
          timeoutMs: answerTimeoutMs,
        }),
      )
      if (name === asked) return 'aborted'
      asked = name
      // The first of two answers may be one that somebody else asked for before.
      await untilDone(node, () => state.refreshCollection(name))
      const placement = await untilDone(node, () => state.refreshCollection(name))
      if (placement === null || !sameBytes(placement.uuid, collectionUuid)) continue
      return ownerOfRange(placement, range) === context.address ? 'aborted' : 'committed'
    }
  }

  /** This shard must not serve the range any more: it waits until it knows the new placement, or knows none. */
  async #learn({ ns, range }: MigrationRecord): Promise<void> {
    const { node, state } = this.#parts()
    for (;;) {
      const placement = await untilDone(node, () => state.refreshCollection(ns))
      if (placement === null || ownerOfRange(placement, range) !== node.context.address) return
    }
  }

  /** False: it does not answer. */
  async #tellRecipient(record: MigrationRecord, decision: MigrationDecision): Promise<boolean> {
    const { node } = this.#parts()
    const { context } = node
    try {
      const { error } = await context.request(
        record.recipient,
        'shard.settle-migration',
        { migrationId: record.id, decision },
        { timeoutMs: answerTimeoutMs },
      )
      if (error !== null) return false
    } catch (error) {
      if (!(error instanceof RequestFailedError) || isShutdown(error)) throw error
      return false
    }
    const told = reachAnyway(context, 'shard.migration.recipient-told', { ns: record.ns, decision })
    if (told !== passedStep) await told
    this.records.remove(record.id)
    await node.flush()
    const forgotten = reachAnyway(context, 'shard.migration.forgotten', { ns: record.ns, decision })
    if (forgotten !== passedStep) await forgotten
    return true
  }

  async #tellUntilHeard(record: MigrationRecord, decision: MigrationDecision): Promise<void> {
    const { context, stopping } = this.#parts().node
    try {
      do await context.sleep(retryPauseMs, stopping.signal)
      while (!(await this.#tellRecipient(record, decision)))
    } catch (error) {
      if (!(error instanceof CommandError) && !isShutdown(error)) throw error
    } finally {
      this.#unfinished--
      this.#finished.notify()
    }
  }
}

function isShutdown(error: unknown): boolean {
  return error instanceof RequestFailedError && error.reason === 'cancelled'
}
