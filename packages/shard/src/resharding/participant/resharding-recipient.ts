/**
 * Pulls the documents under the new key from every donor, then changes, until there are no more.
 * Server: resharding_recipient_service.cpp, resharding_data_replication.cpp.
 */
import {
  Cancellation,
  createDeferred,
  type ErrorField,
  type ReplyOf,
  type RequestOf,
  type ReshardingRecipientState,
} from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import {
  announceReshardDoneCatchUp,
  buildIndex,
  createCollection,
  dropLocalCollection,
  idIndexVersionOf,
  raiseError,
  type NodeHost,
} from '@shardlab/node'
import { ShardKeyPattern, type CollectionPlacement } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { importSessions } from '../../cloning/import-sessions.js'
import { reasonOf, repeatedRequest } from '../../common/repeated-request.js'
import { Signal } from '../../common/signal.js'
import { hasShardKeyIndex, newShardKeyIndex } from '../../shard-key/shard-key-index.js'
import type { ReshardingSink } from '../../ranges/collection-ranges.js'
import type { RecipientRecords, RecipientState, ReshardingFacts } from '../records.js'
import type { ReshardingHost } from '../resharding-host.js'

const donorRequest = { timeoutMs: 10_000, attemptsMax: 3 }
/** While donors have no new changes. */
const heartbeatMs = 250
/** A reply about the state is delayed at most this long. */
const statusWaitMs = 1000

export interface ReceivedCollection {
  readonly donors: readonly string[]
  readonly options: Uint8Array
  readonly indexes: readonly Uint8Array[]
  readonly approxDocuments: number
  readonly approxBytes: number
}

export class ReshardingRecipient {
  readonly received: ReceivedCollection
  readonly startedAtMs: number
  documents: ReshardingSink | null = null
  copied = 0
  copiedBytes = 0
  fetched = 0
  /** When each phase began; `done`: when the last one ended. */
  readonly phases = { cloning: 0, applying: 0, done: 0 }
  readonly #node: NodeHost
  readonly #ranges: ReshardingHost['ranges']
  readonly #facts: ReshardingFacts
  readonly #records: RecipientRecords
  readonly #source: CollectionPlacement
  readonly #changed: Signal
  readonly #ended = createDeferred<void>()
  readonly #stopping = new Cancellation()
  readonly #batches = new Map<string, number>()
  #state: ReshardingRecipientState = 'creating-collection'
  #reason: CommandError | null = null
  #mayFinish = false

  constructor(
    { node, ranges }: Pick<ReshardingHost, 'node' | 'ranges'>,
    facts: ReshardingFacts,
    received: ReceivedCollection,
    source: CollectionPlacement,
    records: RecipientRecords,
  ) {
    const { context } = node
    this.#node = node
    this.#ranges = ranges
    this.#facts = facts
    this.received = received
    this.#source = source
    this.#records = records
    this.#changed = new Signal(context)
    this.startedAtMs = context.now()
  }

  get state(): ReshardingRecipientState {
    return this.#state
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Waits a while for another state than `known`. */
  async status(
    known: ReshardingRecipientState,
  ): Promise<{ state: ReshardingRecipientState; reason: CommandError | null }> {
    if (this.#state === known) await this.#changed.next(statusWaitMs)
    return { state: this.#state, reason: this.#reason }
  }

  /**
   * Pulls the remaining changes, after all donors have blocked writes.
   * @throws CommandError why it failed
   */
  async finish(): Promise<void> {
    this.#mayFinish = true
    this.#changed.notify()
    while (this.#state !== 'strict-consistency') {
      if (this.#reason !== null) throw this.#reason
      await this.#changed.next(statusWaitMs)
    }
  }

  /** Stops; outstanding replies are ignored. */
  stop(): void {
    this.#fail(new CommandError('ReshardCollectionAborted', 'aborted'))
    this.#stopping.abort()
  }

  /** Receives the collection; never throws. {@link status} reports the error. */
  async run(): Promise<void> {
    try {
      await this.#receive()
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === null) throw error
      if (this.#reason === null)
        this.#node.context.log('warn', 'a collection was not received', {
          ns: this.#facts.ns,
          reason: reason.message,
        })
      this.#fail(reason)
    } finally {
      this.#ended.resolve()
    }
  }

  async #receive(): Promise<void> {
    const node = this.#node
    const { context } = node
    const { ns } = this.#facts
    await context.reach('shard.resharding.recipient-started', { ns })
    const collection = this.#createCollection()
    await node.flushToMajority()
    this.#check()
    await context.reach('shard.resharding.collection-created', { ns })
    const collected = { source: this.#source, stopping: this.#stopping.signal }
    const documents = this.#ranges.ofTemporary(ns, collection).reshardingSink(collected)
    this.documents = documents
    await this.#recordState('cloning')
    this.phases.cloning = context.now()
    await context.all(this.received.donors.map((donor) => this.#clone(donor, documents)))
    await context.reach('shard.resharding.cloned', { ns })
    await this.#recordState('applying')
    this.phases.applying = context.now()
    await this.#drain(documents)
    await context.reach('shard.resharding.applied', { ns })
    this.#setState('caught-up')
    while (!this.#mayFinish) {
      await this.#changed.next(heartbeatMs)
      await this.#drain(documents)
    }
    await context.reach('shard.resharding.draining', { ns })
    await this.#drain(documents)
    documents.finish()
    await node.flushToMajority()
    this.#check()
    announceReshardDoneCatchUp(node, { ns: this.#facts.tempNs, uuid: this.#facts.id })
    await this.#recordState('strict-consistency')
    this.phases.done = context.now()
    await context.reach('shard.resharding.consistent', { ns })
  }

  /**
   * A collection that becomes or stays unsharded needs no shard key index, and its indexes may be
   * unique.
   * @throws CommandError 72 InvalidOptions for a unique index that the new key does not allow
   */
  #createCollection(): Collection {
    const node = this.#node
    const { tempNs, id, key, provenance } = this.#facts
    // A leftover of an earlier attempt.
    dropLocalCollection(node, tempNs)
    const collection = createCollection(node, tempNs, this.received.options, {
      uuid: id,
      isOwn: true,
      idIndexVersion: idIndexVersionOf(this.received.indexes),
    })
    for (const spec of this.received.indexes)
      if (collection.index(findField(spec, 'name')!.asString()) === undefined) buildIndex(node, collection, spec)
    if (provenance === 'moveCollection' || provenance === 'unshardCollection') return collection
    const shardKey = ShardKeyPattern.parse(key, { compoundHashed: true })
    const requirement = { behaviours: node.behaviours, collection, ns: tempNs, shardKey, unique: false }
    if (hasShardKeyIndex(requirement)) return collection
    const index = newShardKeyIndex(requirement)
    if (index !== null) buildIndex(node, collection, index)
    return collection
  }

  async #clone(donor: string, documents: ReshardingSink): Promise<void> {
    const node = this.#node
    for (let batch = 0; ; batch++) {
      const documentsMax = node.parameters.number('migrateCloneInsertionBatchSize')
      const reply = await this.#ask(donor, 'shard.resharding-clone', { ...this.#request(), batch, documentsMax })
      const stored = await documents.store(donor, reply)
      this.copied += stored.documents
      this.copiedBytes += stored.bytes
      await node.flushToMajority()
      this.#check()
      await node.context.reach('shard.resharding.batch-stored', { ns: this.#facts.ns, donor, batch })
      this.#check()
      if (reply.last) return
    }
  }

  async #drain(documents: ReshardingSink): Promise<void> {
    const node = this.#node
    await node.context.all(this.received.donors.map((donor) => this.#drainDonor(donor, documents)))
    documents.retry()
    await node.flushToMajority()
    this.#check()
  }

  async #drainDonor(donor: string, documents: ReshardingSink): Promise<void> {
    const node = this.#node
    for (;;) {
      const batch = this.#batches.get(donor) ?? 0
      const mods = await this.#ask(donor, 'shard.resharding-mods', {
        ...this.#request(),
        batch,
      })
      this.#batches.set(donor, batch + 1)
      const changes = documents.apply(donor, mods)
      documents.retry()
      if (mods.sessions !== null) importSessions(node, mods.sessions)
      this.fetched += changes
      if (changes === 0 && mods.sessions === null) return
      await node.flushToMajority()
      this.#check()
    }
  }

  #request(): { reshardingId: Uint8Array; attempt: number; recipient: string } {
    const { id, attempt } = this.#facts
    return { reshardingId: id, attempt, recipient: this.#node.context.address }
  }

  async #ask<K extends 'shard.resharding-clone' | 'shard.resharding-mods'>(
    donor: string,
    kind: K,
    request: RequestOf<K>,
  ): Promise<ReplyOf<K>> {
    const { context } = this.#node
    const { signal } = this.#stopping
    const reply = await repeatedRequest(context, donor, kind, request, { ...donorRequest, signal })
    this.#check()
    raiseError((reply as { readonly error: ErrorField }).error)
    return reply
  }

  #check(): void {
    if (this.#reason !== null) throw this.#reason
  }

  /** The state is on the disk before it is reported. */
  async #recordState(state: RecipientState): Promise<void> {
    this.#check()
    this.#records.put({ facts: this.#facts, state, others: this.received.donors })
    await this.#node.flushToMajority()
    this.#check()
    this.#setState(state)
  }

  #fail(reason: CommandError): void {
    if (this.#reason !== null) return
    this.#reason = reason
    this.#state = 'error'
    this.#changed.notify()
  }

  #setState(state: ReshardingRecipientState): void {
    if (this.#reason !== null) return
    this.#state = state
    this.#changed.notify()
  }
}
