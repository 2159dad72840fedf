import type { MigrationDecision, RequestOf } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import type { ChunkChanges, ReceivingRanges } from '../host/host.js'
import type { RangeSource } from '../ranges/collection-ranges.js'
import { ActiveMigrations } from './active-migrations.js'
import { MigrationDonor } from './donor/migration-donor.js'
import { MigrationCoordinator } from './migration-coordinator.js'
import type { MigrationHost } from './migration-host.js'
import { MigrationRecipient, unknownMigration } from './recipient/migration-recipient.js'

export class Migrations implements ChunkChanges, ReceivingRanges {
  readonly #host: MigrationHost
  readonly #active: ActiveMigrations
  readonly #coordinator: MigrationCoordinator
  #donor: MigrationDonor | null = null
  #recipient: MigrationRecipient | null = null

  constructor(host: MigrationHost) {
    this.#host = host
    this.#active = new ActiveMigrations(host.node.behaviours)
    this.#coordinator = new MigrationCoordinator(host)
  }

  start(): void {
    this.#host.rangeDeleter.start()
    this.#coordinator.recover()
  }

  names(): string[] {
    const running = this.#active.names()
    return running.length > 0
      ? running
      : this.#coordinator.records.all().map(({ ns, recipient }) => `finishes a migration of ${ns} to ${recipient}`)
  }

  /** @throws CommandError why the range was not moved */
  moveRange(request: RequestOf<'shard.move-range'>): Promise<void> {
    return this.#active.donate(request, () => this.#donate(request))
  }

  async #donate(request: RequestOf<'shard.move-range'>): Promise<void> {
    const donor = new MigrationDonor(this.#host, this.#coordinator, request)
    this.#donor = donor
    try {
      await donor.run()
    } finally {
      this.#donor = null
    }
  }

  changeChunks<T>(ns: string, work: () => Promise<T>): Promise<T> {
    return this.#active.changeChunks(ns, work)
  }

  /**
   * The source that the recipient of a migration pulls from.
   * @throws CommandError 47: unknown migration; 94: it is being finished
   */
  source(migrationId: Uint8Array): RangeSource {
    const donor = this.#donor
    if (donor !== null && donor.source !== null && sameBytes(donor.id, migrationId)) {
      donor.source.check()
      return donor.source
    }
    if (this.#coordinator.records.has(migrationId))
      throw new CommandError('NotYetInitialized', 'the migration is being finished')
    throw new CommandError(unknownMigration, 'there is no such migration')
  }

  /** Starts to receive a range. A repeated request has no effect. @throws CommandError 117 */
  receive(request: RequestOf<'shard.receive-range'>): void {
    if (this.#recipient !== null && sameBytes(this.#recipient.request.migrationId, request.migrationId)) return
    this.#host.node.clock.advance(request.clusterTime)
    const recipient = new MigrationRecipient(this.#host, request)
    const end = this.#active.receive({ ns: request.ns, range: recipient.range, from: request.donor })
    this.#recipient = recipient
    const { context } = this.#host.node
    context.detach(recipient.ended.then(end))
    context.detach(recipient.run())
  }

  /**
   * @throws CommandError 77 OperationIncomplete if this is not the latest migration, for example
   *   after a restart of this shard
   */
  recipient(migrationId: Uint8Array): MigrationRecipient {
    if (this.#recipient === null) {
      throw new CommandError(
        'OperationIncomplete',
        'Unable to retrieve the id of the migration session due to NoSuchKey: Missing expected field "sessionId"',
      )
    }
    if (!sameBytes(this.#recipient.request.migrationId, migrationId))
      throw new CommandError('OperationIncomplete', 'Destination shard aborted migration because a new one is running')
    return this.#recipient
  }

  /** A dropped collection is no longer in the catalog, so receiving cannot start again. */
  abortReceiving(isDropped: (ns: string) => boolean): void {
    if (this.#recipient !== null && isDropped(this.#recipient.request.ns)) this.#recipient.abort()
  }

  /** Runs on the recipient. */
  async applyDecision(migrationId: Uint8Array, decision: MigrationDecision): Promise<void> {
    const { node, rangeDeleter } = this.#host
    const recipient =
      this.#recipient !== null && sameBytes(this.#recipient.request.migrationId, migrationId) ? this.#recipient : null
    if (decision === 'committed') {
      await this.#record(migrationId, () => rangeDeleter.cancel(migrationId))
      await node.context.reach('shard.migration.recipient-released', {})
      recipient?.release()
    } else recipient?.abort()
    if (recipient !== null) await recipient.ended
    if (decision === 'aborted') await this.#record(migrationId, () => rangeDeleter.release(migrationId, 'now'))
  }

  /**
   * Resolves when a majority has the change. Without the task nothing changes: a majority has to
   * confirm that no newer primary has it, because the donor does not send the decision again. In a
   * set of one there is no newer primary, but the change of an earlier request may not be on the
   * disk yet.
   * Server: migration_util.cpp, advanceTransactionOnRecipient.
   * @throws CommandError why this member may not be primary
   */
  async #record(migrationId: Uint8Array, change: () => void): Promise<void> {
    const { node, rangeDeleter } = this.#host
    const isKnown = rangeDeleter.tasks.has(migrationId)
    change()
    if (isKnown || node.set.isAlone) return node.flushToMajority()
    const error = await node.set.confirmPrimary('decision of a migration', node.stopping.signal)
    if (error !== null) throw error
  }
}
