/** A shard's part in one attempt of a resharding: as a donor, as a recipient, or as both. */
import type { ReshardingRecipientState } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { drainWriters } from '../../cloning/drain-writers.js'
import type { CriticalSection } from '../../host/host.js'
import type { DonorRecords, ReshardingFacts } from '../records.js'
import type { ReshardingHost } from '../resharding-host.js'
import type { ReshardingDonor } from './resharding-donor.js'
import type { ReshardingRecipient } from './resharding-recipient.js'

export class Participation {
  readonly facts: ReshardingFacts
  donor: ReshardingDonor | null = null
  recipient: ReshardingRecipient | null = null
  /** An earlier life of the member had received everything, and told so. */
  wasConsistent = false
  /** When writes were blocked; null: they are not. */
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

  /** After a restart: nobody touches the collection before it is known what has become of it. */
  blockNow(): void {
    this.#section = this.#host.critical.enterNow(this.facts.ns, 'all')
    this.blockedAtMs = this.#host.node.context.now()
  }

  /**
   * Resolves when nobody can write any more and what was written is on the disk; that this is so, too.
   * @param reads nobody can read either
   * @throws CommandError 117 ConflictingOperationInProgress: documents are still moving in; why the donor cannot go on
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
    if (reads) this.#section?.blockReads()
  }

  /** The donor of this attempt. @throws CommandError 94 NotYetInitialized */
  donating(): ReshardingDonor {
    if (this.donor === null || this.#ended) throw unknownAttempt()
    return this.donor
  }

  /** How far the recipient is; see {@link ReshardingRecipient.status}. @throws CommandError 94 NotYetInitialized */
  async status(
    known: ReshardingRecipientState,
  ): Promise<{ state: ReshardingRecipientState; reason: CommandError | null }> {
    if (this.recipient !== null) return this.recipient.status(known)
    if (!this.wasConsistent) throw unknownAttempt()
    return { state: 'strict-consistency', reason: null }
  }

  /** @throws CommandError 94 NotYetInitialized; why the recipient could not */
  async finish(): Promise<void> {
    if (this.recipient !== null) await this.recipient.finish()
    else if (!this.wasConsistent) throw unknownAttempt()
  }

  /** Stops what is running; {@link release} follows. */
  async end(): Promise<void> {
    this.#ended = true
    this.donor?.close()
    this.recipient?.stop()
    if (this.recipient !== null) await this.recipient.ended
  }

  /** Whoever waits goes on. */
  release(): void {
    this.#section?.leave()
    this.#section = null
  }

  async #enter(): Promise<void> {
    const { node, critical } = this.#host
    const { context } = node
    const { ns, sourceUuid } = this.facts
    const section = await critical.enter(ns, 'writes')
    if (this.#ended) section.leave()
    this.#check()
    this.#section = section
    this.blockedAtMs = context.now()
    await drainWriters(this.#host, ns, sourceUuid)
    // What they did is followed, and has to be on the disk before recipients take it.
    this.donor?.check()
    if (this.donor !== null)
      this.#donors.put({ facts: this.facts, state: 'blocking-writes', others: this.donor.recipients })
    await node.flush()
    await context.reach('shard.resharding.writes-blocked', { ns })
    this.#check()
  }

  #check(): void {
    if (this.#ended) throw unknownAttempt()
  }
}

/** The attempt is over, or its state was lost. */
export function unknownAttempt(): CommandError {
  return new CommandError('NotYetInitialized', 'this shard does not take part in such an attempt of resharding')
}
