/**
 * All state of a router is a cache: a restarted router has lost cursors and caches, but no data.
 */
import {
  Cancellation,
  ClusterClock,
  configAddress,
  createDeferred,
  createObjectIdFactory,
  cursorId,
  isOfSetProtocol,
  NotPrimaryError,
  objectIdAfter,
  StepFailedError,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type Address,
  type ClientCommand,
  type CommandTable,
  type Deferred,
  type MessageKind,
  type Random,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, type DocumentWriter, sameBytes } from '@shardlab/bson'
import {
  concernDefaultsId,
  ConnectionTable,
  FailPoints,
  followLogParameters,
  hasGenericComments,
  LogBuffer,
  noteDisconnected,
  OperationRegistry,
  ParameterSet,
  QuerySettingsTable,
  rowIn,
  SessionCatalog,
  sessionLimits,
  type SessionKey,
  type CommandDescription,
  type MemberInvocation,
  type UserCommand,
  type ReportedTransaction,
} from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import { behavioursOf, type Behaviours } from '@shardlab/sharding'
import { CatalogCache } from './catalog/catalog-cache.js'
import { ShardRegistry } from './catalog/shard-registry.js'
import { commandTable } from './command-table.js'
import { dispatch, type DispatchHost } from './dispatch/dispatcher.js'
import type { Operation } from './dispatch/operation.js'
import { hostOfMember } from './host/host-of-member.js'
import type { MongosInvocation } from './host/mongos-host.js'
import { queryLanguageOf } from './host/query-language.js'
import { ClusterCursorManager } from './cursors/cluster-cursor-manager.js'
import {
  exportMongosState,
  resumeMongos,
  type ConcernDefaults,
  type MongosClients,
  type MongosState,
} from './mongos-state.js'
import { limitsOf, defaultPingIntervalMs, type MongosLimits, type MongosOptions } from './options.js'
import { hedgingOf } from './parameters/hedging-parameters.js'
import { mongosParameters, type MongosParameterName } from './parameters/mongos-parameters.js'
import { QuerySampler, samplerTimer } from './query-analysis/query-sampler.js'
import { Remote } from './remote/remote.js'
import { OperationSums, operationsTimer } from './statistics/operation-sums.js'
import { Statistics } from './statistics/statistics.js'
import { RouterTimeKeys } from './users/router-time-keys.js'
import { RouterUsers, runUserCommand } from './users/router-users.js'
import { RouterTransactions } from './transactions/router-transactions.js'

const pingTimer = 'ping'
const housekeepingTimer = 'housekeeping'
const housekeepingIntervalMs = 60_000

export class Mongos implements Actor, DispatchHost {
  readonly table: CommandTable<MongosInvocation>
  readonly context: ActorContext
  readonly options: MongosOptions
  readonly limits: MongosLimits
  readonly behaviours: Behaviours
  readonly process = 'mongos'
  readonly startedAtMs: number
  readonly clock: ClusterClock
  readonly sessions: SessionCatalog
  readonly remote: Remote
  readonly catalog: CatalogCache
  readonly shards: ShardRegistry
  readonly cursors: ClusterCursorManager
  readonly connections = new ConnectionTable()
  readonly operations = new OperationRegistry()
  readonly logBuffer: LogBuffer
  readonly failPoints: FailPoints
  readonly parameters: ParameterSet<MongosParameterName>
  readonly statistics = new Statistics()
  readonly operationSums = new OperationSums(this)
  readonly transactions: RouterTransactions
  readonly users: RouterUsers
  readonly hasAccessControl: boolean
  readonly timeKeys: RouterTimeKeys | null
  readonly sampling: QuerySampler | null
  /** As of the last ping. */
  querySettings: QuerySettingsTable | null = null
  #querySettingsParameter: Uint8Array | null = null
  readonly newObjectId: () => Uint8Array
  /** Part of hello's topologyVersion. */
  processId: Uint8Array
  /** Aborted when the router shuts down, which ends waits. */
  readonly stopping = new Cancellation()
  readonly mergeDice: Random
  /** For `$rand`. */
  readonly #fraction: () => number
  #cursorIds: Random
  #clusterId: Uint8Array | null = null
  #concernDefaults: ConcernDefaults
  /** As of the last ping. */
  chunkSizeBytes: number
  #inFlight = 0
  #idle: Deferred<void> | null = null

  constructor(context: ActorContext, options: MongosOptions) {
    this.context = context
    this.options = options
    this.limits = limitsOf(options)
    this.behaviours = behavioursOf(options.emulate)
    const { language } = this.behaviours
    this.table = commandTable.adapted(language, (row) => rowIn(language, row))
    this.startedAtMs = context.now()
    this.clock = new ClusterClock(() => context.now())
    this.failPoints = new FailPoints(this, context.random)
    this.parameters = new ParameterSet<MongosParameterName>(this, mongosParameters, options.startOptions?.setParameter)
    const logSamples = context.random.fork('log-samples')
    this.logBuffer = new LogBuffer(() => logSamples.fraction())
    followLogParameters(this)
    this.sessions = new SessionCatalog({ ...sessionLimits(this), onEnd: (key) => this.#sessionEnded(key) })
    this.remote = new Remote(context, this.clock, {
      findReplicaSetHostTimeoutMs: options.findReplicaSetHostTimeoutMs,
      limits: this.limits,
      stopping: this.stopping.signal,
      hostOf: (address) => this.hostOf(address),
      setNameOf: (address) => this.shards.setNameOf(address),
      hedging: () => hedgingOf(this),
      forwardsComments: hasGenericComments(language),
    })
    this.catalog = new CatalogCache(context, this.remote, this.limits, (step, detail) => this.reach(step, detail ?? {}))
    this.transactions = new RouterTransactions(context)
    this.hasAccessControl = options.hasAccessControl ?? false
    this.users = new RouterUsers(this)
    this.timeKeys = this.hasAccessControl ? new RouterTimeKeys(this) : null
    this.shards = new ShardRegistry(this.remote, this.clock)
    this.catalog.learned = ({ table }) => this.shards.expect(table.owners())
    this.#cursorIds = context.random.fork('cursor-ids')
    this.cursors = new ClusterCursorManager(this, () => cursorId(this.#cursorIds))
    this.mergeDice = context.random.fork('merging-shards')
    const expressions = context.random.fork('expressions')
    this.#fraction = () => expressions.fraction()
    const objectIds = createObjectIdFactory(context.random.fork('object-ids'))
    this.newObjectId = () => objectIds(context.now())
    this.processId = this.newObjectId()
    this.#concernDefaults = { document: null, updatedAtMs: this.startedAtMs }
    this.chunkSizeBytes = this.behaviours.defaultChunkSizeBytes
    this.sampling = this.behaviours.queryAnalyzer ? new QuerySampler(this) : null
  }

  get clusterId(): Uint8Array | null {
    return this.#clusterId
  }

  get concernDefaults(): ConcernDefaults {
    return this.#concernDefaults
  }

  async refreshConcernDefaults(operation: Operation | null): Promise<void> {
    const request = { id: concernDefaultsId }
    const { setting } = await this.remote.request(configAddress, 'config.get-setting', request, operation)
    this.#learnConcernDefaults(setting)
  }

  learnQuerySettings(parameter: Uint8Array | null): void {
    const known = this.#querySettingsParameter
    if (known === null ? parameter === null : parameter !== null && sameBytes(known, parameter)) return
    this.#querySettingsParameter = parameter?.slice() ?? null
    this.querySettings = QuerySettingsTable.of(this.#querySettingsParameter ?? undefined)
  }

  get querySettingsParameter(): Uint8Array | null {
    return this.#querySettingsParameter
  }

  /** Does not wait for the config server: without it, the router still serves what it can. */
  start(): void {
    this.context.setTimer(pingTimer, 0)
    this.context.setTimer(housekeepingTimer, housekeepingIntervalMs)
    this.sampling?.start()
  }

  readonly endReads = (operationId: number): void => {
    this.remote.killReadsOf(operationId, [...this.shards.known, configAddress])
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (kind === 'client.command')
      return dispatch(this, request as RequestOf<'client.command'>) as Promise<ReplyOf<K>> | ReplyOf<K>
    return this.#serve(kind, request)
  }

  async #serve<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    switch (kind) {
      case 'client.disconnected':
        noteDisconnected(this, (request as RequestOf<'client.disconnected'>).connectionId)
        return {} as ReplyOf<K>
      case 'faults.switch':
        return this.#switch(request as RequestOf<'faults.switch'>) as ReplyOf<K>
      case 'mongos.refresh-shards':
        await this.shards.refresh(null)
        return {} as ReplyOf<K>
      default:
        // A configuration of a set may name this router.
        if (isOfSetProtocol(kind)) throw new NotPrimaryError(true)
        throw new UnservedMessageError(this.context.address, kind)
    }
  }

  async wake(timer: string): Promise<void> {
    if (timer === pingTimer) await this.#ping()
    else if (timer === samplerTimer) await this.sampling?.wake()
    else if (timer === operationsTimer) this.operationSums.wake()
    else if (timer === housekeepingTimer) {
      const now = this.context.now()
      this.cursors.expire(now, this.parameters.number('cursorTimeoutMillis'))
      this.sessions.expire(now)
      this.context.setTimer(housekeepingTimer, housekeepingIntervalMs)
    }
  }

  async stop(): Promise<void> {
    for (const timer of [pingTimer, housekeepingTimer, samplerTimer, operationsTimer]) this.context.clearTimer(timer)
    this.stopping.abort()
    this.failPoints.stop()
    this.operations.stop()
    if (this.#inFlight === 0) return
    this.#idle = createDeferred()
    await this.#idle.promise
  }

  exportState(): MongosState {
    return exportMongosState(this)
  }

  exportClients(): MongosClients {
    return { connections: this.connections, cursorIds: this.#cursorIds, processId: this.processId }
  }

  resume(state: MongosState, clients: MongosClients | null): void {
    resumeMongos(this, state)
    this.#clusterId = state.clusterId
    this.#concernDefaults = state.concernDefaults
    this.chunkSizeBytes = state.chunkSizeBytes
    this.learnQuerySettings(state.querySettings)
    if (clients === null) return
    this.connections.adopt(clients.connections)
    // A new id, so that awaited hellos reply, however often the router returns to the same state.
    this.processId = objectIdAfter(clients.processId)
    // A client may still hold the id of a closed cursor, so ids must not repeat.
    this.#cursorIds = clients.cursorIds
  }

  describe(): Record<string, unknown> {
    return {
      connections: this.connections.current,
      openCursors: this.cursors.size,
      cachedCollections: this.catalog.collectionCount,
      collectionVersions: this.catalog.collectionVersions(),
      cachedDatabases: this.catalog.databaseCount,
      inFlight: this.#inFlight,
    }
  }

  runUserCommand(command: UserCommand, invocation: MemberInvocation): Promise<DocumentWriter> {
    return runUserCommand(command, invocation as MongosInvocation)
  }

  openTransactions(): Iterable<ReportedTransaction> {
    return this.transactions.reports()
  }

  get commandRows(): readonly CommandDescription[] {
    return this.table.rows
  }

  killCursorsOfSessions(fits: (session: SessionKey) => boolean): void {
    this.cursors.killOfSessions(fits)
  }

  evaluation(): EvaluationContext {
    const nowMs = this.context.now()
    return {
      now: () => nowMs,
      random: this.#fraction,
      newObjectId: this.newObjectId,
      strict: this.options.strict ?? false,
      ...queryLanguageOf(this.behaviours),
    }
  }

  *replicaSets(): Generator<string, void, void> {
    for (const [, connection] of this.shards.entries()) yield connection
    if (this.options.configHost !== undefined) yield this.options.configHost
  }

  hostOf(member: Address): string {
    return hostOfMember(this, member)
  }

  #sessionEnded(key: SessionKey): void {
    this.cursors.killOfSessions((session) => session === key)
    this.transactions.drop(key)
  }

  limitReached(limit: string, value: number): void {
    this.context.emit({ type: 'limit', atMs: this.context.now(), member: this.context.address, limit, value })
  }

  #switch({ name, value }: RequestOf<'faults.switch'>): ReplyOf<'faults.switch'> {
    if (name !== 'frozen-routes') throw new Error(`unknown switch of a router: ${name}`)
    this.catalog.frozen = value !== null
    return {}
  }

  async runInternally(command: ClientCommand): Promise<Uint8Array> {
    return (await dispatch(this, command, true)).body
  }

  reach(step: string, detail: Readonly<Record<string, unknown>>): Promise<void> {
    return this.context.reach(step, detail).catch(throwFailPointError)
  }

  commandBegins(): void {
    this.#inFlight++
  }

  commandEnds(): void {
    this.#inFlight--
    if (this.#inFlight === 0) this.#idle?.resolve()
  }

  #learnConcernDefaults(document: Uint8Array | null): void {
    const known = this.#concernDefaults.document
    if (known === null ? document === null : document !== null && Buffer.compare(known, document) === 0) return
    this.#concernDefaults = { document: document?.slice() ?? null, updatedAtMs: this.context.now() }
  }

  async #ping(): Promise<void> {
    const now = this.context.now()
    try {
      const { clusterId, concernDefaults, chunkSizeBytes, querySettings, userGeneration } = await this.remote.request(
        configAddress,
        'config.mongos-ping',
        {
          host: this.context.endpoint,
          version: this.behaviours.serverVersion,
          createdMs: this.startedAtMs,
          upSeconds: Math.floor((now - this.startedAtMs) / 1000),
        },
        null,
      )
      this.#clusterId = clusterId.slice()
      this.#learnConcernDefaults(concernDefaults)
      this.chunkSizeBytes = chunkSizeBytes
      this.learnQuerySettings(querySettings)
      this.users.learnGeneration(userGeneration)
      await this.shards.refresh(null)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.context.log('warn', 'the config server does not answer', { error: error.message })
    }
    if (!this.stopping.signal.aborted)
      this.context.setTimer(pingTimer, this.options.pingIntervalMs ?? defaultPingIntervalMs)
  }
}

export function createMongos(context: ActorContext, options: MongosOptions): Actor {
  return new Mongos(context, options)
}

function throwFailPointError(error: unknown): never {
  throw error instanceof StepFailedError ? new CommandError('FailPointEnabled', error.message) : error
}
