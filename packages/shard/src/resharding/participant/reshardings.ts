/** Server: resharding_donor_service.cpp, resharding_recipient_service.cpp. */
import { configAddress, RequestFailedError, type RequestOf, type ReshardingOutcome } from '@shardlab/actor'
import { CommandError, hexOf, sameBytes } from '@shardlab/bson'
import {
  announceReshardBegin,
  catchUpKeys,
  dropLocalCollection,
  reachIgnoringFault,
  ReshardingStatistics,
  retryUntilDone,
} from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'
import { DonorRecords, RecipientRecords, type ReshardingFacts } from '../records.js'
import { receivedBy } from '../report/statistics.js'
import type { ReshardingHost } from '../resharding-host.js'
import { Participation, unknownAttempt } from './participation.js'
import type { ReshardingDonor } from './resharding-donor.js'
import { ReshardingRecipient } from './resharding-recipient.js'

export const reshardingTimer = 'resharding'
/** Between requests for the outcome of an attempt. */
const outcomePauseMs = 1000
const answerTimeoutMs = 15_000
const endedIdsMax = 100

type StartRequest = RequestOf<'shard.donate-collection'> | RequestOf<'shard.receive-collection'>

interface Attempt {
  readonly reshardingId: Uint8Array
  readonly attempt: number
}

export class Reshardings {
  readonly donors: DonorRecords
  readonly recipients: RecipientRecords
  readonly statistics = new ReshardingStatistics()
  readonly #host: ReshardingHost
  readonly #participations = new Map<string, Participation>()
  /**
   * By resharding, the last decided attempt: a request to take part in it may still arrive, or wait
   * for the catalog.
   */
  readonly #ended = new Map<string, number>()
  #asking = false

  constructor(host: ReshardingHost) {
    this.#host = host
    this.donors = new DonorRecords(host.node)
    this.recipients = new RecipientRecords(host.node)
  }

  /** After a restart: blocks writes again where they were blocked. */
  start(): void {
    for (const { facts, state } of [...this.donors.all(), ...this.recipients.all()]) {
      const participation =
        this.#participations.get(hexOf(facts.id)) ?? new Participation(this.#host, facts, this.donors)
      this.#participations.set(hexOf(facts.id), participation)
      if (state === 'strict-consistency') participation.wasConsistent = true
      if ((state === 'blocking-writes' || state === 'strict-consistency') && !participation.isBlocking)
        participation.blockNow()
    }
    this.#arm()
  }

  all(): Iterable<Participation> {
    return this.#participations.values()
  }

  checkDefinitionChange(ns: string): void {
    for (const { facts } of this.#participations.values())
      if (facts.ns === ns)
        throw new CommandError('ReshardCollectionInProgress', `reshardCollection is in progress for namespace ${ns}`)
  }

  async wake(): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      for (const { facts } of [...this.#participations.values()]) await this.#askOutcome(facts)
    } finally {
      this.#asking = false
      this.#arm()
    }
  }

  /** @throws CommandError 94 NotYetInitialized: unknown or ended attempt */
  of({ reshardingId, attempt }: Attempt): Participation {
    const participation = this.#participations.get(hexOf(reshardingId))
    if (participation === undefined || participation.facts.attempt !== attempt) throw unknownAttempt()
    return participation
  }

  /**
   * Idempotent.
   * @throws CommandError 26 NamespaceNotFound, 94 NotYetInitialized
   */
  async donate(request: RequestOf<'shard.donate-collection'>): Promise<ReshardingDonor> {
    const { node } = this.#host
    const placements = await this.#placements(request)
    await catchUpKeys(node, null, node.collection(request.ns))
    const participation = await this.#join(request)
    if (participation.donor === null) {
      const { facts } = participation
      participation.donor = this.#donor(facts, placements, request.recipients)
      this.donors.put({ facts, state: 'donating-initial-data', others: request.recipients })
      announceReshardBegin(node, { ns: facts.ns, uuid: facts.sourceUuid }, facts.id)
    }
    await node.flushToMajority()
    await node.context.reach('shard.resharding.donor-started', { ns: request.ns })
    return participation.donor
  }

  /** Idempotent. @throws CommandError 94 NotYetInitialized */
  async receive(request: RequestOf<'shard.receive-collection'>): Promise<void> {
    const { node } = this.#host
    const { source } = await this.#placements(request)
    const participation = await this.#join(request)
    if (participation.recipient === null) {
      const { facts } = participation
      participation.recipient = new ReshardingRecipient(this.#host, facts, request, source, this.recipients)
      this.recipients.put({ facts, state: 'creating-collection', others: request.donors })
      node.context.detach(participation.recipient.run())
    }
    await node.flushToMajority()
  }

  /** Ends the attempt and all earlier ones. */
  async applyOutcome(request: RequestOf<'shard.apply-resharding-outcome'>): Promise<void> {
    const { node } = this.#host
    const { reshardingId, attempt, ns, sourceUuid, committed } = request
    const participation = this.#participations.get(hexOf(reshardingId))
    if (participation !== undefined && participation.facts.attempt > attempt) return
    this.#recordEnd(hexOf(reshardingId), attempt)
    await reachIgnoringFault(node.context, 'shard.resharding.outcome-received', { ns })
    await participation?.end()
    // A concurrent call may have applied the outcome during the wait.
    if (participation !== undefined && this.#participations.get(hexOf(reshardingId)) !== participation) return
    if (committed) await this.#adopt(ns, sourceUuid)
    else if (participation !== undefined) this.#dropTemporary(participation.facts)
    this.donors.remove(reshardingId)
    this.recipients.remove(reshardingId)
    await node.flushToMajority()
    await reachIgnoringFault(node.context, 'shard.resharding.outcome-applied', { ns })
    if (participation !== undefined && this.#participations.get(hexOf(reshardingId)) === participation) {
      this.#participations.delete(hexOf(reshardingId))
      const { facts, recipient } = participation
      if (recipient !== null) this.statistics.add(facts.provenance, receivedBy(recipient))
    }
    participation?.release()
  }

  #donor(
    { ns, sourceUuid }: ReshardingFacts,
    placements: { readonly source: CollectionPlacement; readonly target: CollectionPlacement },
    recipients: readonly string[],
  ): ReshardingDonor {
    const { node, ranges } = this.#host
    const live = node.collection(ns)
    if (live === undefined || !sameBytes(live.uuid, sourceUuid))
      throw new CommandError(
        'NamespaceNotFound',
        'The collection was not found locally even though it is marked as sharded.',
      )
    const source = ranges.of(live).reshardingSource({ ns, ...placements, recipients })
    return { recipients, startedAtMs: node.context.now(), source }
  }

  #recordEnd(id: string, attempt: number): void {
    this.#ended.set(id, Math.max(attempt, this.#ended.get(id) ?? 0))
    if (this.#ended.size > endedIdsMax) this.#ended.delete(this.#ended.keys().next().value!)
  }

  /**
   * Resolves when the temporary collection has the committed name, and the old collection is
   * dropped.
   */
  async #adopt(ns: string, sourceUuid: Uint8Array): Promise<void> {
    const { node, placements } = this.#host
    for (;;) {
      const placement = await retryUntilDone(node, () => placements.refreshCollection(ns))
      if (placement === null || !sameBytes(placement.uuid, sourceUuid)) break
    }
    const old = node.collection(ns)
    if (old !== undefined && sameBytes(old.uuid, sourceUuid)) dropLocalCollection(node, ns, true)
  }

  #dropTemporary({ id, tempNs }: ReshardingFacts): void {
    const { node, placements } = this.#host
    const temporary = node.collection(tempNs)
    if (temporary !== undefined && sameBytes(temporary.uuid, id)) dropLocalCollection(node, tempNs, true)
    placements.forgetCollection(tempNs)
  }

  /**
   * Takes part in an attempt, after the end of an earlier one.
   * @throws CommandError 94 NotYetInitialized: the attempt has ended, or a later one has started
   */
  async #join({
    reshardingId,
    attempt,
    ns,
    tempNs,
    sourceUuid,
    keyPattern: key,
    provenance,
  }: StartRequest): Promise<Participation> {
    const known = this.#participations.get(hexOf(reshardingId))
    if (known !== undefined && known.facts.attempt < attempt)
      await this.applyOutcome({ reshardingId, attempt: known.facts.attempt, ns, sourceUuid, committed: false })
    const current = this.#participations.get(hexOf(reshardingId))
    if (current !== undefined && current.facts.attempt > attempt) throw unknownAttempt()
    if ((this.#ended.get(hexOf(reshardingId)) ?? -1) >= attempt) throw unknownAttempt()
    if (current !== undefined && current.facts.attempt === attempt) return current
    const { node } = this.#host
    const startedAtMs = node.context.now()
    const facts: ReshardingFacts = { id: reshardingId, attempt, ns, tempNs, sourceUuid, key, provenance, startedAtMs }
    const participation = new Participation(this.#host, facts, this.donors)
    this.#participations.set(hexOf(reshardingId), participation)
    this.statistics.recordStart(provenance)
    this.#arm()
    return participation
  }

  /**
   * @returns the placements before and after
   * @throws CommandError 94 NotYetInitialized: the catalog does not have the resharding
   */
  async #placements({ ns, tempNs, sourceUuid, reshardingId }: StartRequest): Promise<{
    source: CollectionPlacement
    target: CollectionPlacement
  }> {
    const { placements } = this.#host
    // The first call may join a refresh that began earlier.
    await placements.refreshCollection(ns)
    const source = await placements.refreshCollection(ns)
    const target = await placements.refreshCollection(tempNs)
    const isThis =
      source !== null && target !== null && sameBytes(source.uuid, sourceUuid) && sameBytes(target.uuid, reshardingId)
    if (!isThis) throw unknownAttempt()
    return { source, target }
  }

  async #askOutcome({ id, attempt, ns, sourceUuid }: ReshardingFacts): Promise<void> {
    const { context } = this.#host.node
    let outcome: ReshardingOutcome
    try {
      const request = { reshardingId: id, attempt, ns }
      ;({ outcome } = await context.request(configAddress, 'config.resharding-outcome', request, {
        timeoutMs: answerTimeoutMs,
      }))
    } catch (error) {
      if (error instanceof RequestFailedError) return
      throw error
    }
    if (outcome === 'running') return
    try {
      await this.applyOutcome({ reshardingId: id, attempt, ns, sourceUuid, committed: outcome === 'committed' })
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof RequestFailedError)) throw error
      context.log('warn', 'a resharding did not end', { ns, reason: error.message })
    }
  }

  #arm(): void {
    const { context, stopping } = this.#host.node
    if (this.#participations.size > 0 && !stopping.signal.aborted) context.setTimer(reshardingTimer, outcomePauseMs)
  }
}
