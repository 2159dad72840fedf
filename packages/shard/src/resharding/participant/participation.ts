/** A shard's part in one attempt: as donor, as recipient, or as both. */
import type { ReshardingRecipientState } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { blockReads, drainWriters, type LockRequest } from '../../cloning/collection-lock.js'
import type { CriticalSection } from '../../host/host.js'
import type { DonorRecords, ReshardingFacts } from '../records.js'
import type { ReshardingHost } from '../resharding-host.js'
import type { ReshardingDonor } from './resharding-donor.js'
import type { ReshardingRecipient } from './resharding-recipient.js'

/** After the default of reshardingCriticalSectionTimeoutMillis the coordinator gives up. */
const lockTimeoutMs = 5_000

export class Participation {
  readonly facts: ReshardingFacts
  donor: ReshardingDonor | null = null
  recipient: ReshardingRecipient | null = null
  /** The shard reported before a restart that it had received everything. */
  wasConsistent = false
  /** null: writes are not blocked. */
  blockedAtMs: number | null = null
  readonly #host: ReshardingHost
  readonly #donors: DonorRecords
  #section: CriticalSection | null = null
  #blocking: Promise<void> | null = null
  #ended = false

  constructor(host: ReshardingHost, facts: ReshardingFacts, donors: DonorRecords) {
    this.#host = host
    this.facts = facts
    this.#donors = donors
  }

  get isBlocking(): boolean {
    return this.#section !== null
  }

  /** After a restart: blocks the collection until the outcome is known. */
  blockNow(): void {
    this.#section = this.#host.critical.enterNow(this.facts.ns, 'all')
    this.blockedAtMs = this.#host.node.context.now()
  }

  /**
   * Resolves when writes are blocked, and earlier writes and the state `blocking-writes` are on the
   * disk.
   * @param reads block reads as well
   * @throws CommandError 117 ConflictingOperationInProgress: documents are still moving in; errors
   *   of the donor
   */
  async block(reads: boolean): Promise<void> {
    if (this.#section === null || this.#blocking !== null) {
      if (this.donor === null && this.recipient === null) throw unknownAttempt()
      this.#blocking ??= this.#enter().finally(() => {
        this.#blocking = null
      })
      await this.#blocking
    }
    this.#check()
    if (!reads) return
    await blockReads(this.#host, this.#lockRequest(), () => this.#section)
    this.#check()
  }

  donating(): ReshardingDonor {
    if (this.donor === null || this.#ended) throw unknownAttempt()
    return this.donor
  }

  /** As {@link ReshardingRecipient.status}. @throws CommandError 94 NotYetInitialized */
  async status(
    known: ReshardingRecipientState,
  ): Promise<{ state: ReshardingRecipientState; reason: CommandError | null }> {
    if (this.recipient !== null) return this.recipient.status(known)
    if (!this.wasConsistent) throw unknownAttempt()
    return { state: 'strict-consistency', reason: null }
  }

  /** @throws CommandError 94 NotYetInitialized; why the recipient failed */
  async finish(): Promise<void> {
    if (this.recipient !== null) await this.recipient.finish()
    else if (!this.wasConsistent) throw unknownAttempt()
  }

  /** Stops both sides. Call {@link release} later. */
  async end(): Promise<void> {
    this.#ended = true
    this.donor?.source.close()
    this.recipient?.stop()
    if (this.recipient !== null) await this.recipient.ended
  }

  release(): void {
    this.#section?.leave()
    this.#section = null
  }

  async #enter(): Promise<void> {
    const { node, critical } = this.#host
    const { context } = node
    const { ns } = this.facts
    const section = await critical.enter(ns, 'writes')
    if (this.#ended) section.leave()
    this.#check()
    this.#section = section
    this.blockedAtMs = context.now()
    await drainWriters(this.#host, this.#lockRequest())
    // The outcome may have arrived during the wait: nothing would remove a record written now.
    this.#check()
    // Earlier writes must be on the disk before recipients pull them.
    this.donor?.source.check()
    if (this.donor !== null)
      this.#donors.put({ facts: this.facts, state: 'blocking-writes', others: this.donor.recipients })
    await node.flushToMajority()
    await context.reach('shard.resharding.writes-blocked', { ns })
    this.#check()
  }

  #lockRequest(): LockRequest {
    return { ns: this.facts.ns, timeoutMs: lockTimeoutMs }
  }

  #check(): void {
    if (this.#ended) throw unknownAttempt()
  }
}

/** The attempt has ended, or its state was lost. */
export function unknownAttempt(): CommandError {
  return new CommandError('NotYetInitialized', 'this shard does not take part in this attempt of the resharding')
}
