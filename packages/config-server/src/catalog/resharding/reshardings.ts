/**
 * One resharding runs at a time. Server: resharding_coordinator_service.cpp,
 * configsvr_*_reshard_collection_command.cpp.
 */
import { LinkedAbort, RequestFailedError, type ReplyOf, type RequestOf } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  compareDocuments,
  ErrorCodes,
  errorDocument,
  findField,
  hexOf,
  sameBytes,
  type DocumentWriter,
} from '@shardlab/bson'
import { databaseNameOf, uuidText } from '@shardlab/member'
import { reshardingSectionOf, ReshardingStatistics, untilMajorityHasState } from '@shardlab/node'
import { chunkImbalance } from './chunk-imbalance.js'
import type { CatalogHost, ConfigHandlers, ReshardingHost, ReshardingRequests } from '../host.js'
import { beginOperation, wasBegun } from './catalog-changes.js'
import { ReshardingCoordinator, type Ending } from './coordinator.js'
import { checkShards } from './initial-chunks.js'
import { operationsNs, parseOperation, uuidBytes, type ReshardingOperation } from './operation.js'
import { parseReshardingRequest } from './request.js'

export const reshardingHandlers: ConfigHandlers<
  | 'config.start-resharding'
  | 'config.await-resharding'
  | 'config.abort-resharding'
  | 'config.commit-resharding'
  | 'config.cleanup-resharding'
  | 'config.resharding-outcome',
  ReshardingHost
> = {
  'config.start-resharding': (catalog, request) => catalog.reshardings.start(request),
  'config.await-resharding': (catalog, request) => catalog.reshardings.awaitEnd(request),
  'config.abort-resharding': (catalog, request) => catalog.reshardings.abort(request),
  async 'config.commit-resharding'(catalog, { ns }) {
    catalog.reshardings.commit(ns)
    return { error: null }
  },
  'config.cleanup-resharding': (catalog, { ns }) => catalog.reshardings.cleanUp(ns),
  'config.resharding-outcome': (catalog, request) => ({ outcome: catalog.reshardings.outcome(request) }),
}

/** A request for the end is held open for at most this time. */
const endWaitMs = 5000
const endingsMax = 100

export class ReshardingOperations implements ReshardingRequests {
  readonly #catalog: CatalogHost
  readonly #running = new Map<string, ReshardingCoordinator>()
  readonly #endings = new Map<string, Ending>()
  readonly #statistics = new ReshardingStatistics()

  constructor(catalog: CatalogHost) {
    this.#catalog = catalog
  }

  recover(): void {
    for (const document of this.#catalog.store.find(operationsNs)) {
      const operation = parseOperation(document)
      if (operation !== null) this.#catalog.node.context.detach(this.#resume(operation))
    }
  }

  /**
   * @throws CommandError 338 ReshardCollectionInProgress, 26 NamespaceNotFound, 5808201, and errors
   *   of the request
   */
  async start({
    reshardingId,
    ns,
    request,
  }: RequestOf<'config.start-resharding'>): Promise<ReplyOf<'config.start-resharding'>> {
    const { behaviours, store, node } = this.#catalog
    const reply = (state: 'running' | 'done', runningId = reshardingId) => ({ state, runningId, error: null })
    if (this.#running.has(hexOf(reshardingId)) || this.#endings.has(hexOf(reshardingId))) return reply('running')
    // An operation that ended before a restart must not run again.
    if (wasBegun(this.#catalog, reshardingId)) return reply('running')
    const entry = this.#catalog.collection(ns)
    if (entry === null) throw new CommandError('NamespaceNotFound', `collection ${ns} not found`)
    if (sameBytes(uuidIn(entry), reshardingId)) return reply('done')
    const zones = this.#catalog.zonesOf(ns)
    const parsed = parseReshardingRequest(behaviours, request, zones.length > 0)
    const { shardKey, forceRedistribution, shardDistribution, provenance } = parsed
    if (shardDistribution !== null)
      checkShards(
        store.all('config.shards'),
        shardDistribution.map(({ shard }) => shard),
      )
    const running = this.#of(ns)
    if (running !== null && compareDocuments(running.operation.key, shardKey.document) === 0)
      return reply('running', running.operation.id)
    if (compareDocuments(findField(entry, 'key')!.slice(), shardKey.document) === 0 && !forceRedistribution)
      return reply('done')
    if (provenance === 'moveCollection' && this.#isOn(entry, shardDistribution![0]!.shard)) return reply('done')
    if (this.#running.size > 0) {
      throw new CommandError(
        'ReshardCollectionInProgress',
        `Only one resharding operation is allowed to be active at a time, aborting resharding op for ${ns}`,
      )
    }
    const allowMigrations = findField(entry, 'allowMigrations')
    if (allowMigrations?.type === BsonType.bool && !allowMigrations.isTruthy())
      throw new CommandError(5808201, 'collection allowMigrations setting is already set to false')
    const existing = forceRedistribution && provenance !== 'unshardCollection' ? zones.map(zoneOf) : null
    const operation: ReshardingOperation = {
      provenance,
      id: reshardingId,
      ns,
      sourceUuid: uuidIn(entry),
      tempNs: `${databaseNameOf(ns)}.system.resharding.${uuidText(uuidIn(entry))}`,
      key: shardKey.document,
      startedAtMs: node.context.now(),
      state: 'initializing',
      approxSize: null,
      abortReason: null,
      cloneTimestamp: null,
      donors: [],
      recipients: [],
      zones: parsed.zones ?? existing,
      request,
    }
    beginOperation(this.#catalog, operation)
    const coordinator = new ReshardingCoordinator(this.#catalog, operation)
    this.#running.set(hexOf(reshardingId), coordinator)
    try {
      await node.flushToMajority()
    } finally {
      // Start it even if the disk is full: the entry is written with the next ones.
      this.#statistics.count(provenance, 'Started', forceRedistribution)
      node.context.detach(this.#untilEnded(coordinator))
    }
    return reply('running')
  }

  async awaitEnd({
    reshardingId,
    ns,
  }: RequestOf<'config.await-resharding'>): Promise<ReplyOf<'config.await-resharding'>> {
    const running = this.#running.get(hexOf(reshardingId))
    if (running !== undefined && !(await this.#endsWithin(running, endWaitMs))) return { ended: false, error: null }
    const ending = this.#endings.get(hexOf(reshardingId))
    if (ending !== undefined) return { ended: true, error: ending === null ? null : errorDocument(ending) }
    // The operation ended before a restart, or never existed.
    const aborted = new CommandError('ReshardCollectionAborted', 'aborted')
    return { ended: true, error: this.#isCommitted(reshardingId, ns) ? null : errorDocument(aborted) }
  }

  /**
   * @throws CommandError 26 NamespaceNotFound, 339 NoSuchReshardCollection, 20 IllegalOperation:
   *   another command runs it, 340 ReshardCollectionCommitted; otherwise the failure of the
   *   resharding
   */
  async abort({ ns, provenance }: RequestOf<'config.abort-resharding'>): Promise<ReplyOf<'config.abort-resharding'>> {
    const coordinator = this.#require(
      ns,
      'Could not find resharding-related metadata that matches the given namespace',
      'Could not find in-progress resharding operation to abort',
    )
    if (coordinator.operation.provenance !== provenance)
      throw new CommandError(
        'IllegalOperation',
        'Could not find in-progress resharding operation with matching provenance',
      )
    coordinator.abort()
    const ending = await this.#end(coordinator)
    if (ending === null)
      throw new CommandError(
        'ReshardCollectionCommitted',
        "Can't abort resharding operation after the decision has been persisted",
      )
    if (ending.code !== ErrorCodes.ReshardCollectionAborted) throw ending
    return { error: null }
  }

  /** @throws CommandError 26 NamespaceNotFound, 339 NoSuchReshardCollection */
  commit(ns: string): void {
    this.#require(
      ns,
      `Could not find resharding metadata for ${ns}`,
      'Could not find in-progress resharding operation to commit',
    ).hurry()
  }

  /** @throws CommandError 26 NamespaceNotFound */
  async cleanUp(ns: string): Promise<ReplyOf<'config.cleanup-resharding'>> {
    if (this.#catalog.collection(ns) === null) throw new CommandError('NamespaceNotFound', `collection ${ns} not found`)
    const coordinator = this.#of(ns)
    if (coordinator !== null) {
      coordinator.abort()
      await this.#end(coordinator)
    }
    return { error: null }
  }

  outcome({
    reshardingId,
    attempt,
    ns,
  }: RequestOf<'config.resharding-outcome'>): ReplyOf<'config.resharding-outcome'>['outcome'] {
    const running = this.#running.get(hexOf(reshardingId))
    if (running !== undefined) return running.outcomeOf(attempt)
    return this.#isCommitted(reshardingId, ns) ? 'committed' : 'aborted'
  }

  writeStatistics(writer: DocumentWriter): void {
    this.#statistics.write(writer, this.#catalog.behaviours.reshardingStatistics, (name) => ({
      received: [],
      states: [...this.#running.values()]
        .filter(({ operation }) => reshardingSectionOf(operation.provenance) === name)
        .map(({ operation }) => `Coordinator ${operation.state}`),
    }))
  }

  #countEnding({ provenance, request, ns }: ReshardingOperation, ending: Ending): void {
    const sameKey = findField(request, 'forceRedistribution')?.isTruthy() === true
    const what =
      ending === null ? 'Succeeded' : ending.code === ErrorCodes.ReshardCollectionAborted ? 'Canceled' : 'Failed'
    this.#statistics.count(provenance, what, sameKey)
    const entry = this.#catalog.collection(ns)
    if (ending === null && entry !== null)
      this.#statistics.recordImbalance(provenance, chunkImbalance(this.#catalog, entry))
  }

  #of(ns: string): ReshardingCoordinator | null {
    for (const coordinator of this.#running.values()) if (coordinator.operation.ns === ns) return coordinator
    return null
  }

  #require(ns: string, unknown: string, ended: string): ReshardingCoordinator {
    const entry = this.#catalog.collection(ns)
    if (entry === null) throw new CommandError('NamespaceNotFound', `collection ${ns} not found`)
    if (findField(entry, 'reshardingFields') === undefined) throw new CommandError('NoSuchReshardCollection', unknown)
    const coordinator = this.#of(ns)
    if (coordinator === null) throw new CommandError('NoSuchReshardCollection', ended)
    return coordinator
  }

  #isOn(entry: Uint8Array, shard: string): boolean {
    return this.#catalog.chunks(entry).some((chunk) => findField(chunk, 'shard')!.asString() === shard)
  }

  #isCommitted(id: Uint8Array, ns: string): boolean {
    const entry = this.#catalog.collection(ns)
    return entry !== null && sameBytes(uuidIn(entry), id)
  }

  async #resume(operation: ReshardingOperation): Promise<void> {
    const { node } = this.#catalog
    const coordinator = new ReshardingCoordinator(this.#catalog, operation)
    this.#running.set(hexOf(operation.id), coordinator)
    this.#statistics.recordStart(operation.provenance)
    try {
      await untilMajorityHasState(node)
    } catch (error) {
      if (node.stopping.signal.aborted) return
      throw error
    }
    await this.#untilEnded(coordinator)
  }

  async #untilEnded(coordinator: ReshardingCoordinator): Promise<void> {
    const noted = coordinator.ended.then((ending) => {
      const key = hexOf(coordinator.operation.id)
      this.#countEnding(coordinator.operation, ending)
      this.#endings.set(key, ending)
      for (const oldest of this.#endings.keys()) {
        if (this.#endings.size <= endingsMax) break
        this.#endings.delete(oldest)
      }
      this.#running.delete(key)
      for (const waiting of coordinator.waiting) waiting.abort()
    })
    this.#catalog.node.context.detach(noted)
    await coordinator.run()
  }

  async #end(coordinator: ReshardingCoordinator): Promise<Ending> {
    while (!(await this.#endsWithin(coordinator, endWaitMs)));
    return coordinator.ended
  }

  /** @throws RequestFailedError when the member shuts down */
  async #endsWithin(coordinator: ReshardingCoordinator, ms: number): Promise<boolean> {
    const { context, stopping } = this.#catalog.node
    const hasEnded = (): boolean => this.#running.get(hexOf(coordinator.operation.id)) !== coordinator
    if (hasEnded()) return true
    const waiting = new LinkedAbort(stopping.signal)
    coordinator.waiting.add(waiting)
    try {
      await context.sleep(ms, waiting.signal)
    } catch (error) {
      if (!(error instanceof RequestFailedError) || !hasEnded()) throw error
    } finally {
      waiting.unlink()
      coordinator.waiting.delete(waiting)
    }
    return hasEnded()
  }
}

function uuidIn(entry: Uint8Array): Uint8Array {
  return uuidBytes(findField(entry, 'uuid')!)
}

function zoneOf(tag: Uint8Array): { min: Uint8Array; max: Uint8Array; name: string } {
  return {
    min: findField(tag, 'min')!.slice(),
    max: findField(tag, 'max')!.slice(),
    name: findField(tag, 'tag')!.asString(),
  }
}
