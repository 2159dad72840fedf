/** One mongod without sharding. Its role decides which documents a command may use. */
import type { CommandError, DocumentWriter } from '@shardlab/bson'
import { stepDownForShutdown } from '../replication/step-down-for-shutdown.js'
import {
  Cancellation,
  type ClusterClock,
  createObjectIdFactory,
  type ActorContext,
  type ClientCommand,
  type ClientReply,
  type CommandRow,
  type CommandTable,
  type MessageKind,
  type NodeCommand,
  type NodeReply,
} from '@shardlab/actor'
import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import type { Collection, KeyOfInserted, LogEntry, LogSession, StorageEngine } from '@shardlab/storage'
import {
  ConnectionTable,
  LogBuffer,
  FailPoints,
  followLogParameters,
  StepContext,
  type MemberInvocation,
  type UserCommand,
  type ShardLabel,
  type OperationRegistry,
  ParameterSet,
  querySettingsParameter,
  QuerySettingsTable,
  SessionCatalog,
  sessionLimits,
  type ReportedTransaction,
  type SessionKey,
} from '@shardlab/member'
import { dropTemporaryCollections } from '../ddl/temporary.js'
import type { CursorManager } from '../cursors/cursor-manager.js'
import { notifyOfEntries, type InsertWaiters } from '../cursors/insert-waiters.js'
import type { LastingReads } from './lasting-reads.js'
import type { NodeHost, NodeInvocation, NodeRole, SampledWrites, StorageNodeOptions } from './node-host.js'
import type { LogChange } from '../log/log-change.js'
import type { ChangeObserver } from '../log/node-log.js'
import type { Oplog } from '../log/oplog.js'
import type { NodeStorage } from './node-storage.js'
import type { ReplicaSet } from '../replication/replica-set.js'
import { observeUntilRemoved } from './observe.js'
import { evaluationOf } from './node-evaluation.js'
import { expireAll } from './expire-all.js'
import {
  exportNodeClients,
  exportNodeState,
  processIdAfter,
  resumeNode,
  type NodeClients,
  type NodeState,
} from './node-state.js'
import { readableCollection } from './readable-collection.js'
import { storedClusterParameter } from '../parameters/cluster-parameter.js'
import { featureCompatibilityVersionOf } from '../parameters/feature-compatibility.js'
import { snapshotWindowSeconds } from '../parameters/snapshot-window.js'
import { nodeParameters, type NodeParameterName } from '../parameters/node-parameters.js'
import { answerClient, answerMember, serveMessage } from '../dispatch/member-messages.js'
import { tableOf } from '../dispatch/role-table.js'
import { failTransactionalWrite, failsTransactionalWrite } from '../retry/fail-transactional-write.js'
import type { RetryHistory } from '../retry/retry-history.js'
import type { SnapshotHistory } from '../read/snapshots/snapshot-history.js'
import { NodeStatistics } from '../statistics/node-statistics.js'
import { isNamespaceOfUsers } from '../users/stored-users.js'
import { timeKeysOf, type NodeTimeKeys } from '../users/time-keys.js'
import { runUserCommand } from '../users/user-commands.js'
import { UserStore } from '../users/user-store.js'
import { Transactions, transactionsTimer } from '../transactions/transactions.js'
import { TtlMonitor, ttlTimer } from '../ttl/ttl-monitor.js'

/** What a node serves, after others have and before others will: see `SetMember`. */
export interface NodeOfSet {
  readonly storage: NodeStorage
  readonly set: ReplicaSet
  readonly reads: LastingReads
  /** A secondary changes nothing by itself. */
  readonly mode: 'primary' | 'secondary'
  /** Its connections, sessions, parameters and counters are taken over. Null: this is the first. */
  readonly previous: StorageNode | null
}

export class StorageNode implements NodeHost {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  readonly options: StorageNodeOptions
  readonly role: NodeRole
  readonly process = 'mongod'
  readonly startedAtMs: number
  readonly engine: StorageEngine
  readonly clock: ClusterClock
  readonly retries: RetryHistory
  readonly transactions: Transactions
  readonly sessions: SessionCatalog
  readonly snapshots: SnapshotHistory
  readonly writeLock: NodeHost['writeLock']
  readonly reads: LastingReads
  readonly cursors: CursorManager
  readonly insertWaiters: InsertWaiters
  readonly table: CommandTable<NodeInvocation>
  readonly statistics: NodeStatistics
  readonly opcounters: NodeStatistics['opcounters']
  readonly operations: OperationRegistry
  readonly connections: ConnectionTable
  readonly logBuffer: LogBuffer
  readonly ttl = new TtlMonitor(this)
  readonly failPoints: FailPoints
  readonly set: ReplicaSet
  readonly isStandalone: boolean
  readonly users: UserStore
  readonly hasAccessControl: boolean
  readonly timeKeys: NodeTimeKeys | null
  readonly parameters: ParameterSet<NodeParameterName>
  /** Set by {@link refreshQuerySettings}. */
  querySettings: QuerySettingsTable | null = null
  processId: Uint8Array
  readonly newObjectId: () => Uint8Array
  readonly stopping = new Cancellation()
  readonly #storage: NodeStorage
  readonly #mode: 'primary' | 'secondary'
  readonly #observers = new Set<() => void>()
  #hasEnded = false
  readonly #objectIds: ReturnType<typeof createObjectIdFactory>

  constructor(
    context: ActorContext,
    options: StorageNodeOptions,
    makeRole: (node: NodeHost) => NodeRole,
    { storage, set, reads, mode, previous }: NodeOfSet,
  ) {
    this.behaviours = options.behaviours
    this.set = set
    this.reads = reads
    reads.node = this
    this.cursors = reads.cursors
    this.insertWaiters = reads.insertWaiters
    this.operations = reads.operations
    this.#mode = mode
    this.#storage = storage
    ;({ engine: this.engine, clock: this.clock, retries: this.retries, writeLock: this.writeLock } = storage)
    this.failPoints = previous?.failPoints ?? new FailPoints(this, context.random)
    this.context = new StepContext(context, this.failPoints, () => this.role.memberName)
    this.options = options
    this.startedAtMs = previous?.startedAtMs ?? context.now()
    this.statistics = previous?.statistics ?? new NodeStatistics()
    this.opcounters = this.statistics.opcounters
    this.connections = previous?.connections ?? new ConnectionTable()
    this.isStandalone = options.isStandalone ?? false
    this.hasAccessControl = options.hasAccessControl ?? false
    this.users = new UserStore(this, previous?.users ?? null)
    this.timeKeys = timeKeysOf(this, previous?.timeKeys ?? null)
    this.snapshots = storage.snapshots
    this.transactions = new Transactions(this, {
      logged: storage.log.transactions,
      write: (entries) => this.#applyTransaction(entries),
    })
    this.parameters = new ParameterSet<NodeParameterName>(this, nodeParameters, options.startOptions?.setParameter)
    const { periodicNoopIntervalSecs: seconds } = options
    if (seconds !== undefined) this.parameters.setAtStartup('periodicNoopIntervalSecs', seconds)
    this.snapshots.windowSeconds = () => snapshotWindowSeconds(this)
    const logSamples = context.random.fork('log-samples')
    this.logBuffer = previous?.logBuffer ?? new LogBuffer(() => logSamples.fraction())
    this.sessions = new SessionCatalog({ ...sessionLimits(this), onEnd: (key) => this.#sessionEnded(key) })
    // Two nodes of one member that began with the same numbers would make the same ids.
    this.#objectIds = previous === null ? createObjectIdFactory(context.random.fork('object-ids')) : previous.#objectIds
    this.newObjectId = () => this.#objectIds(context.now())
    this.processId = previous?.processId ?? this.newObjectId()
    if (previous !== null) {
      this.sessions.adopt(previous.sessions)
      this.parameters.import(previous.parameters.export())
    }
    followLogParameters(this)
    this.#observers.add(notifyOfEntries(storage.log.durable, this.insertWaiters, set))
    this.role = makeRole(this)
    this.table = tableOf(this.role.rows, this.behaviours.language)
  }

  get isPrimary(): boolean {
    return this.set.isWritablePrimary
  }

  get mayChange(): boolean {
    return !this.#hasEnded && this.#mode === 'primary' && this.set.isPrimary
  }

  runUserCommand(command: UserCommand, { db, body }: MemberInvocation): Promise<DocumentWriter> {
    return runUserCommand(this, this.users, command, db, body)
  }

  stepDownForShutdown(catchUpSeconds: number): Promise<CommandError | null> | null {
    return stepDownForShutdown(this.set, catchUpSeconds)
  }

  start(): void {
    this.refreshQuerySettings()
    this.timeKeys?.start()
    this.context.setTimer('housekeeping', 60_000)
    if (this.#mode === 'secondary') return
    this.transactions.restore(this.#storage.log.transactions.prepared(), this.engine)
    dropTemporaryCollections(this)
    this.ttl.start()
  }

  limitReached(limit: string, value: number): void {
    this.context.emit({ type: 'limit', atMs: this.context.now(), member: this.context.address, limit, value })
  }

  exportState(): NodeState {
    return exportNodeState(this, this.#storage.log)
  }

  exportClients(): NodeClients {
    return exportNodeClients(this, this.reads.cursorIds)
  }

  /** Counters start at 0, as after a restart. */
  resume(state: NodeState, clients: NodeClients | null): void {
    resumeNode(this, this.#storage.log, state)
    this.refreshQuerySettings()
    if (clients === null) return
    this.connections.adopt(clients.connections)
    this.processId = processIdAfter(clients)
    this.reads.cursorIds = clients.cursorIds
  }

  /** Returns false for timers of the role. */
  wake(timer: string): Promise<void> | boolean {
    if (timer === ttlTimer) return this.ttl.wake()
    if (timer === transactionsTimer) return this.transactions.wake()
    if (timer !== 'housekeeping') return false
    expireAll(this)
    this.context.setTimer('housekeeping', 60_000)
    return true
  }

  /** Interrupts waiting clients. Requests of other members are still served. */
  stop(): void {
    this.stopping.abort()
    this.failPoints.stop()
    this.operations.stop()
  }

  /** Its work is over, and the next node on the same data begins. */
  end(): void {
    this.transactions.end()
    this.#hasEnded = true
    this.cursors.closeWhere(({ txnNumber }) => txnNumber !== null)
    for (const removeObserver of this.#observers) removeObserver()
  }

  collection(ns: string): Collection | undefined {
    return this.engine.collection(ns)
  }

  readable(ns: string): Collection | undefined {
    return readableCollection(this, ns)
  }

  get featureCompatibilityVersion(): string {
    return featureCompatibilityVersionOf(this)
  }

  refreshQuerySettings(): void {
    this.querySettings = QuerySettingsTable.of(storedClusterParameter(this, querySettingsParameter))
  }

  get sampling(): SampledWrites | null {
    return this.role.sampling ?? null
  }

  openTransactions(): Iterable<ReportedTransaction> {
    return this.transactions.reports()
  }

  backgroundOperations(shard: ShardLabel): Iterable<Uint8Array> {
    return this.role.backgroundOperations?.(shard) ?? []
  }

  get commandRows(): readonly CommandRow<NodeInvocation>[] {
    return this.table.rows
  }

  killCursorsOfSessions(fits: (session: SessionKey) => boolean): void {
    this.cursors.closeWhere(({ session }) => session !== null && fits(session))
    this.transactions.abortWhere(fits)
  }

  evaluation(): EvaluationContext {
    return evaluationOf(this)
  }

  apply(change: LogChange): LogEntry {
    this.#checkMayChange()
    if (!this.transactions.isEmpty) this.transactions.checkChange(change)
    if (this.failPoints.active && change.session !== null) failTransactionalWrite(this, change.session)
    return this.#noteChange(this.#storage.log.apply(change))
  }

  #noteChange(entry: LogEntry): LogEntry {
    this.statistics.changed(entry)
    if (isNamespaceOfUsers(entry.ns)) this.users.invalidate()
    if (entry.op === 'i') this.insertWaiters.notify(entry.ns)
    else if (entry.op === 'c') this.ttl.invalidate()
    return entry
  }

  #applyTransaction(entries: readonly LogChange[]): LogEntry {
    this.#checkMayChange()
    if (this.failPoints.active) failTransactionalWrite(this, entries.at(-1)!.session!)
    return this.#storage.log.applyTransaction(entries, (change) => void this.#noteChange(change))
  }

  insertEach(
    { ns, uuid }: Collection,
    documents: readonly Uint8Array[],
    session: (LogSession & { readonly key: SessionKey }) | null,
    keyOf: KeyOfInserted | null,
  ): number {
    this.#checkMayChange()
    if (this.failPoints.active && session !== null && failsTransactionalWrite(this, session)) return 0
    const { inserted } = this.#storage.log.insertEach(ns, uuid, documents, session, keyOf)
    if (inserted === 0) return 0
    this.statistics.documents.inserted += inserted
    if (isNamespaceOfUsers(ns)) this.users.invalidate()
    this.insertWaiters.notify(ns)
    return inserted
  }

  insertAll({ ns, uuid }: Collection, documents: Iterable<Uint8Array>): void {
    this.#checkMayChange()
    const { count } = this.#storage.log.insertAll(ns, uuid, documents)
    if (count === 0) return
    this.statistics.documents.inserted += count
    if (isNamespaceOfUsers(ns)) this.users.invalidate()
    this.insertWaiters.notify(ns)
  }

  /** @throws Error a secondary, or an ended primary, would change data: a broken invariant */
  #checkMayChange(): void {
    if (!this.mayChange) throw new Error(`${this.context.address} is not primary and cannot change data`)
  }

  get oplog(): Oplog {
    return this.#storage.log.oplog
  }

  observe(observer: ChangeObserver): () => void {
    return observeUntilRemoved(this.#storage.log.observers, observer, this.#observers)
  }

  hasRoom(documentBytes: number, entries: number): boolean {
    return this.#storage.log.hasRoom(documentBytes, entries)
  }

  requireRoom(documentBytes = 0, entries = 1): void {
    this.#storage.log.requireRoom(documentBytes, entries)
  }

  get isWritten(): boolean {
    return this.#storage.log.isWritten && this.set.isCommitted
  }

  flush(): Promise<void> {
    const { log } = this.#storage
    const flushed = log.flush()
    return log.isWritten ? flushed : this.context.all([flushed]).then(() => {})
  }

  async flushToMajority(): Promise<void> {
    await this.flush()
    // Outlasts attempts to step down; once stepped down, the context never resumes the caller.
    if (!this.set.isCommitted) await this.context.all([this.set.awaitCommitted(this.set.appliedTs)])
  }

  /** Returns undefined for kinds that only a role serves. */
  serve(kind: MessageKind, request: unknown): Promise<unknown> | object | undefined {
    return serveMessage(this, kind, request)
  }

  clientCommand(command: ClientCommand): Promise<ClientReply> | ClientReply {
    return answerClient(this, command)
  }

  nodeCommand(command: NodeCommand): Promise<NodeReply> | NodeReply {
    return answerMember(this, command)
  }

  #sessionEnded(key: string): void {
    this.retries.drop(key)
    this.cursors.closeWhere((cursor) => cursor.session === key)
  }
}
