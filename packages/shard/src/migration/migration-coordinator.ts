/**
 * The end of migrations on the donor: the decision, its consequences on both shards, and recovery.
 * Server: migration_coordinator.cpp, migration_util.cpp (recovery).
 */
import { configAddress, RequestFailedError, type MigrationDecision } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { announceLastChunk, reachIgnoringFault, retryUntilDone, untilMajorityHasState } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'
import { Signal } from '../common/signal.js'
import type { CriticalSection, EnterableSections, PlacementHost } from '../host/host.js'
import type { RangeDeleter } from '../range-deletion/range-deleter.js'
import { ownerOfRange } from '../ranges/key-range.js'
import { emitMigration } from './migration-events.js'
import { MigrationRecords, type MigrationRecord } from './migration-records.js'

const answerTimeoutMs = 15_000
const retryPauseMs = 250
/** A new migration waits this long for unfinished ones. */
const recoveryTimeoutMs = 20_000

interface CoordinatorHost extends PlacementHost {
  readonly critical: EnterableSections
  readonly rangeDeleter: RangeDeleter
}

export interface MigrationEnding {
  /** How many the recipient has cloned. */
  readonly documents: number
  /** Called when the decision is on the disk. */
  readonly decided: (decision: MigrationDecision) => void
}

export class MigrationCoordinator {
  readonly records: MigrationRecords
  readonly #host: CoordinatorHost
  readonly #finished: Signal
  /** Migrations whose recipient has not acknowledged the decision, and those being recovered. */
  #unfinished = 0

  constructor(host: CoordinatorHost) {
    this.#host = host
    this.records = new MigrationRecords(host.node)
    this.#finished = new Signal(host.node.context)
  }

  /** After a restart: blocks a collection until the outcome of its migration is known. */
  recover(): void {
    const { node, critical } = this.#host
    for (const record of this.records.all()) {
      // While a resharding blocks the collection, no migration can commit.
      const isFree = critical.blocking(record.ns) === undefined
      const section = record.decision === null && isFree ? critical.enterNow(record.ns, 'all') : null
      node.context.detach(this.#recover(record, section))
    }
  }

  get isRecovered(): boolean {
    return this.#unfinished === 0
  }

  /** Resolves when {@link isRecovered}. @throws CommandError 117 */
  async recovered(): Promise<void> {
    const { context } = this.#host.node
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

  /**
   * @param section the donor's critical section; null: the commit was not requested
   */
  async resolve(
    record: MigrationRecord,
    section: CriticalSection | null,
    ending: MigrationEnding,
  ): Promise<MigrationDecision> {
    const decision = section === null ? 'aborted' : await this.#askConfig(record)
    await this.finish(record, decision, section, ending)
    return decision
  }

  /**
   * Records the decision and carries it out: here now, on the recipient as soon as it answers.
   * @param section ends once this shard knows the placement
   */
  async finish(
    record: MigrationRecord,
    decision: MigrationDecision,
    section: CriticalSection | null,
    { documents, decided }: MigrationEnding,
  ): Promise<void> {
    const { node, rangeDeleter } = this.#host
    const { context } = node
    try {
      // Since an earlier decision, which followed the placement, the range may have come back.
      const learns = decision === 'committed' && record.decision === null
      const placement = learns ? await this.#learnPlacement(record) : null
      // In one step with the decision: the event is neither lost nor repeated.
      if (placement?.table.chunksOn(context.address) === 0) announceLastChunk(node, placement, context.address)
      this.records.decide(record.id, decision)
      await node.flushToMajority()
      decided(decision)
      await reachIgnoringFault(context, 'shard.migration.decided', { ns: record.ns, decision })
    } finally {
      section?.leave()
    }
    if (decision === 'committed') rangeDeleter.release(record.id, null, documents)
    else rangeDeleter.cancel(record.id)
    await node.flushToMajority()
    await reachIgnoringFault(context, 'shard.migration.applied', { ns: record.ns, decision })
    if (await this.#informRecipient(record, decision)) return
    context.log('warn', 'the recipient of a migration does not answer', { ns: record.ns, recipient: record.recipient })
    this.#unfinished++
    context.detach(this.#informUntilAnswered(record, decision))
  }

  async #recover(record: MigrationRecord, section: CriticalSection | null): Promise<void> {
    this.#unfinished++
    const startedAtMs = this.#host.node.context.now()
    try {
      await untilMajorityHasState(this.#host.node)
      const decision = record.decision ?? (await this.#askConfig(record))
      await this.finish(record, decision, section, this.#recoveredEnding(record, startedAtMs))
    } catch (error) {
      if (!(error instanceof CommandError) && !isShutdown(error)) throw error
      this.#host.node.context.log('warn', 'a migration was not finished', {
        ns: record.ns,
        reason: (error as Error).message,
      })
    } finally {
      this.#unfinished--
      this.#finished.notify()
    }
  }

  /** A decision that was on the disk before the crash has been reported. */
  #recoveredEnding(record: MigrationRecord, startedAtMs: number): MigrationEnding {
    const { node, rangeDeleter } = this.#host
    const { context } = node
    return {
      documents: rangeDeleter.tasks.get(record.id)?.numOrphanDocs ?? 0,
      decided(stage) {
        if (record.decision !== null) return
        const durationMs = context.now() - startedAtMs
        emitMigration(context, record, { stage, documents: 0, bytes: 0, durationMs })
      },
    }
  }

  /**
   * Makes sure that a commit in flight will fail, then reads the range's owner from the catalog.
   */
  async #askConfig({ ns, collectionUuid, range, chunkVersion }: MigrationRecord): Promise<MigrationDecision> {
    const { node, placements } = this.#host
    const { context } = node
    const request = { ns, uuid: collectionUuid, ...range, version: chunkVersion }
    for (let asked: string | null = null; ;) {
      // A rename in the meantime does not undo an earlier commit.
      const { ns: name } = await retryUntilDone(node, () =>
        context.request(configAddress, 'config.ensure-chunk-version-is-greater-than', request, {
          timeoutMs: answerTimeoutMs,
        }),
      )
      if (name === asked) return 'aborted'
      asked = name
      // The first call may join a refresh that began before the version was raised.
      await retryUntilDone(node, () => placements.refreshCollection(name))
      const placement = await retryUntilDone(node, () => placements.refreshCollection(name))
      if (placement === null || !sameBytes(placement.uuid, collectionUuid)) continue
      return ownerOfRange(placement, range) === context.address ? 'aborted' : 'committed'
    }
  }

  /**
   * Resolves when this shard's placement says that another shard owns the range, or when the
   * collection of the migration is gone: after resharding the range has no meaning.
   * @returns null: the collection is gone
   */
  async #learnPlacement({ ns, collectionUuid, range }: MigrationRecord): Promise<CollectionPlacement | null> {
    const { node, placements } = this.#host
    for (;;) {
      const placement = await retryUntilDone(node, () => placements.refreshCollection(ns))
      if (placement === null || !sameBytes(placement.uuid, collectionUuid)) return null
      if (ownerOfRange(placement, range) !== node.context.address) return placement
    }
  }

  /** @returns false: it does not answer */
  async #informRecipient(record: MigrationRecord, decision: MigrationDecision): Promise<boolean> {
    const { node } = this.#host
    const { context } = node
    try {
      const { error } = await context.request(
        record.recipient,
        'shard.apply-migration-decision',
        { migrationId: record.id, decision, clusterTime: node.clock.time },
        { timeoutMs: answerTimeoutMs },
      )
      if (error !== null) return false
    } catch (error) {
      if (!(error instanceof RequestFailedError) || isShutdown(error)) throw error
      return false
    }
    await reachIgnoringFault(context, 'shard.migration.recipient-told', { ns: record.ns, decision })
    this.records.remove(record.id)
    await node.flushToMajority()
    await reachIgnoringFault(context, 'shard.migration.forgotten', { ns: record.ns, decision })
    return true
  }

  async #informUntilAnswered(record: MigrationRecord, decision: MigrationDecision): Promise<void> {
    const { context, stopping } = this.#host.node
    try {
      do await context.sleep(retryPauseMs, stopping.signal)
      while (!(await this.#informRecipient(record, decision)))
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
