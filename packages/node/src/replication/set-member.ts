/**
 * One member of a replica set, of one or of several members: it runs the protocol, keeps the data,
 * and serves a role on it, as primary or as secondary.
 */
import {
  type Actor,
  type ActorContext,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type UnfinishedWork,
  createObjectIdFactory,
} from '@shardlab/actor'
import { nullOpTime, type MemberState, type PrimaryOfOne, type ReplicaSetConfig } from '@shardlab/replication'
import type { Behaviours } from '@shardlab/sharding'
import { uninitializedTerm, type LogEntry } from '@shardlab/storage'
import { committedEntries } from '../cursors/insert-waiters.js'
import type { StorageNodeOptions } from '../host/node-host.js'
import type { NodeClients } from '../host/node-state.js'
import { LastingReads } from '../host/lasting-reads.js'
import { NodeStorage } from '../host/node-storage.js'
import type { NodeOfSet, StorageNode } from '../host/storage-node.js'
import { initiatingSet, newPrimary, noopOf } from '../log/noop.js'
import { LagWatch } from './lag-watch.js'
import type { ProtocolHooks } from './protocol/protocol-hooks.js'
import { isArbiterIn } from './protocol/own-member.js'
import { persist } from './protocol/persist.js'
import { replicationTimer, SetProtocol } from './protocol/set-protocol.js'
import { EndlessContext, StorageContext } from './member-contexts.js'
import { ReplicaSetOfMember } from './replica-set-of-member.js'
import { RollbackFiles } from './rollback-files/rollback-files.js'
import { SetEvents } from './set-events.js'
import { noteApplied } from './serving/note-applied.js'
import { RevocableContext } from './serving/revocable-context.js'
import { Serving, type Running, type ServedRole, type ServingMode } from './serving/serving.js'
import type { DiskWithDocuments } from './storage/disk-with-documents.js'
import { NodeReplicaLog } from './storage/node-replica-log.js'
import { StableState } from './storage/stable-state.js'

export interface SetOptions {
  readonly name: string
  /**
   * A member that starts elsewhere than its configuration says is not in its set, as on the server.
   * Default false: the configuration of a set of one follows it.
   */
  readonly keepsHosts?: boolean
}

/** A set that consists of this member. It initiates itself. */
export interface OwnSetOptions extends SetOptions {
  readonly isConfigServer: boolean
}

/** Immutable; shared by any number of copies. */
export interface SetMemberState {
  /** Null: not the primary of a set of one; the copy has an election. */
  readonly primary: PrimaryOfOne | null
  readonly role: unknown
}

export type ServeRole = (context: ActorContext, ofSet: NodeOfSet) => ServedRole

/** Other members read it: one that was down longer than it reaches back needs an initial sync. */
const oplogSizeBytesOfSeveral = 16 * 1024 * 1024

export class SetMember implements Actor {
  readonly #context: ActorContext
  readonly #options: SetOptions | OwnSetOptions
  readonly #serve: ServeRole
  readonly #storage: NodeStorage
  readonly #disk: DiskWithDocuments
  readonly #stable: StableState
  readonly #protocolContext: EndlessContext
  readonly #protocol: SetProtocol
  readonly #rules: Behaviours
  readonly #rollbackFiles: RollbackFiles
  readonly #events: SetEvents
  readonly #lagWatch: LagWatch
  readonly #set: ReplicaSetOfMember
  readonly #reads: LastingReads
  readonly #running = new Set<Running>()
  /** Null: not started. */
  #serving: Serving | null = null
  #servedConfig: ReplicaSetConfig | null = null

  constructor(
    context: ActorContext,
    nodeOptions: StorageNodeOptions,
    options: SetOptions | OwnSetOptions,
    serve: ServeRole,
  ) {
    this.#context = context
    this.#options = options
    this.#serve = serve
    this.#rules = nodeOptions.behaviours
    const storageContext = new StorageContext(context)
    this.#disk = storageContext.disk
    this.#storage = new NodeStorage(storageContext, {
      ...('isConfigServer' in options ? {} : { oplogSizeBytes: oplogSizeBytesOfSeveral }),
      ...nodeOptions,
    })
    this.#stable = new StableState(this.#storage, () => context.now())
    this.#events = new SetEvents(context, nodeOptions.isStandalone === true ? null : options.name)
    this.#rollbackFiles = new RollbackFiles({
      disk: this.#disk,
      behaviours: nodeOptions.behaviours,
      now: () => context.now(),
      isOn: () => this.#current.role.node.parameters.bool('createRollbackDataFiles'),
      onLimit: (bytesMax) => this.#events.limitReached('rollbackFilesBytesMax', bytesMax),
    })
    const log = new NodeReplicaLog({
      storage: this.#storage,
      disk: this.#disk,
      stable: this.#stable,
      rollbackFiles: this.#rollbackFiles,
      applied: (entry) => this.#applied(entry),
    })
    this.#protocolContext = new EndlessContext(context)
    const { periodicNoopIntervalSecs: seconds } = nodeOptions
    this.#protocol = new SetProtocol({
      context: this.#protocolContext,
      log,
      clock: this.#storage.clock,
      rules: nodeOptions.behaviours,
      setName: options.name,
      keepsHosts: options.keepsHosts ?? false,
      noopIntervalMs: seconds === undefined ? null : seconds * 1000,
      hooks: this.#hooks(),
    })
    const { cursorsMax } = nodeOptions.startOptions ?? {}
    this.#reads = new LastingReads(context, options.name, cursorsMax === undefined ? {} : { cursorsMax })
    this.#lagWatch = new LagWatch(this.#protocol.coordinator)
    this.#set = new ReplicaSetOfMember({
      context,
      rules: nodeOptions.behaviours,
      storage: this.#storage,
      stable: this.#stable,
      protocol: this.#protocol,
      node: () => this.#current.role.node,
    })
  }

  start(): void {
    const { log } = this.#storage
    log.term = this.#term
    this.#keepOplog()
    const hasData = log.recover(() => this.#dataReplaced())
    // Server: initiating a set writes its first entry before the first election.
    if (!hasData && this.#isOwnSet) log.apply(noopOf(initiatingSet), uninitializedTerm)
    this.#run()
  }

  get #isOwnSet(): boolean {
    return 'isConfigServer' in this.#options
  }

  /** Until a commit point is known, a rollback may need every entry. */
  #keepOplog(): void {
    if (!this.#isOwnSet) this.#storage.log.oplog.keepFrom(nullOpTime)
  }

  #dataReplaced(): void {
    this.#stable.reset()
    this.#storage.snapshots.reset(this.#storage.log.lastTs)
  }

  /**
   * The log has what this member has written.
   * @param termMin see {@link SetProtocol.start}
   */
  #run(termMin = uninitializedTerm): void {
    this.#protocol.start(termMin)
    if ('isConfigServer' in this.#options && this.#protocol.coordinator.state.config === null)
      this.#protocol.initiateAlone({
        isConfigServer: this.#options.isConfigServer,
        replicaSetId: createObjectIdFactory(this.#context.random.fork('replica-set-id'))(this.#context.now()),
      })
    // The only member of a set serves already: it is primary.
    if (this.#serving === null) this.#replaceServing('secondary')
  }

  readonly #term = (): number => this.#protocol.coordinator.state.term

  unfinished(): readonly UnfinishedWork[] {
    return this.#current.role.unfinished?.() ?? []
  }

  endlessSleeps(): number {
    return this.#protocolContext.sleeping
  }

  exportState(): SetMemberState {
    return { primary: this.#set.coordinator.exportPrimary(), role: this.#current.role.exportState?.() }
  }

  exportClients(): NodeClients {
    return this.#current.role.node.exportClients()
  }

  resume({ primary, role }: SetMemberState, clients: NodeClients | null): void {
    this.#storage.log.term = this.#term
    const serving = this.#open(primary === null ? 'secondary' : 'primary', null)
    this.#serving = serving
    // Clients take a primary with a lower term for a stale one.
    const term = Math.max(primary?.term ?? uninitializedTerm, clients?.term ?? uninitializedTerm)
    if (primary !== null) this.#protocol.resume({ ...primary, term })
    serving.role.resume?.(role, clients)
    if (primary === null) {
      this.#disk.readDocuments()
      this.#keepOplog()
      this.#stable.reset()
      this.#run(term)
    } else if (term > primary.term) this.#set.appendNoop(newPrimary)
  }

  /**
   * All members but arbiters write the same first entry, so their oplogs have a common point, and
   * none needs an initial sync.
   */
  async #initiate({ config, atMs, isPrimary }: RequestOf<'replication.initiate'>): Promise<void> {
    const { log } = this.#storage
    if (this.#protocol.coordinator.state.config !== null || log.lastApplied !== null) return
    if (!isArbiterIn(config, this.#rules, this.#context)) {
      log.initiate([Math.floor(atMs / 1000), 1], atMs)
      await log.flush()
    }
    await this.#protocol.initiate(config, isPrimary)
  }

  async #switch({ name, value }: RequestOf<'faults.switch'>): Promise<void> {
    if (name === 'delayed-replication') this.#protocol.delayReplication(Number(value))
    else if (name === 'stepped-down') await this.#keepFromPrimary(value !== null)
    else if (name === 'small-oplog') this.#storage.log.oplog.resize(value as number | null)
    else throw new Error(`unknown switch of a storage node: ${name}`)
  }

  /** The fault `step down`: until it is healed, this member is not elected. */
  async #keepFromPrimary(on: boolean): Promise<void> {
    const { commands, state } = this.#protocol.coordinator
    if (on && state.isPrimary) await this.#protocol.stepDown({ seconds: forever, catchUpSeconds: 0, force: true })
    else commands.freeze(this.#context.steadyNow(), on ? forever : 0)
    this.#protocol.carryOut()
  }

  get #current(): Serving {
    return this.#serving!
  }

  async wake(timer: string): Promise<void> {
    if (timer === replicationTimer) this.#protocol.wake()
    else await this.#current.role.wake?.(timer)
  }

  async stop(): Promise<void> {
    this.#storage.writeLock.release()
    await this.#current.role.stop?.()
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K> {
    // Most messages are commands.
    if (kind === 'client.command' || kind === 'node.command') return this.#current.receive(kind, request, from)
    if (kind === 'faults.switch')
      return this.#switch(request as RequestOf<'faults.switch'>).then(() => ({}) as ReplyOf<K>)
    if (kind === 'replication.initiate')
      return this.#initiate(request as RequestOf<'replication.initiate'>).then(() => ({}) as ReplyOf<K>)
    if (kind === 'replication.rollback-files') return { files: this.#rollbackFiles.list() } as ReplyOf<K>
    if (kind === 'replication.read-rollback-file')
      return this.#rollbackFiles.read(request as RequestOf<'replication.read-rollback-file'>) as ReplyOf<K>
    const answer = this.#protocol.receive(kind, request)
    if (answer !== null) return answer as Promise<ReplyOf<K>> | ReplyOf<K>
    return this.#current.receive(kind, request, from)
  }

  describe(): Record<string, unknown> {
    const { memberState, committed, state, isWritablePrimary } = this.#set.coordinator
    return {
      ...this.#current.role.describe?.(),
      state: memberState,
      isWritable: isWritablePrimary,
      term: state.term,
      syncSource: state.syncSource,
      lastApplied: this.#set.lastApplied,
      committed: committed.optime,
      configuration: state.config === null ? null : configurationOf(state.config),
    }
  }

  #hooks(): ProtocolHooks {
    return {
      writesPeriodicNoops: () => this.#current.role.node.parameters.bool('writePeriodicNoops'),
      stateChanged: (from, to) => this.#stateChanged(from, to),
      beginWrites: () => this.#replaceServing('primary'),
      endWrites: () => this.#endWrites(),
      topologyChanged: () => this.#topologyChanged(),
      committed: (point) => {
        // The entries of the only member are never rolled back.
        if (this.#protocol.coordinator.isAlone) return this.#storage.log.oplog.keepFrom(null)
        this.#stable.advance(point.optime)
        this.#serving?.role.node.insertWaiters.notify(committedEntries)
      },
      elected: (result) => this.#events.elected(result),
      woken: () => this.#lagWatch.check(this.#context.steadyNow()).forEach((lag) => this.#events.lagging(lag)),
      steppedDown: (term, reason) => this.#events.steppedDown(term, reason),
      rolledBack: (to, entries, namespaces) => this.#events.rolledBack(to, entries, namespaces),
      rollbackFailed: (source) => this.#events.rollbackFailed(source),
    }
  }

  #open(mode: ServingMode, previous: StorageNode | null): Serving {
    const context = new RevocableContext(this.#context, this.#options.name)
    const ofSet = { storage: this.#storage, set: this.#set, reads: this.#reads, mode, previous }
    return new Serving(mode, this.#serve(context, ofSet), context, this.#running)
  }

  /** Ends what is served now, if anything, and serves on the same data in another mode. */
  #replaceServing(mode: ServingMode): void {
    const ended = this.#serving
    if (ended?.mode === 'primary' && this.#rules.stepDownEndsReads) this.#reads.end()
    // What a role watches ends with it.
    this.#reads.cursors.onEnd = null
    const next = this.#open(mode, ended?.role.node ?? null)
    this.#serving = next
    this.#servedConfig = this.#protocol.coordinator.state.config
    ended?.end()
    next.role.start()
  }

  async #endWrites(): Promise<void> {
    if (this.#current.mode !== 'primary') return
    this.#replaceServing('secondary')
    await persist(this.#context, () => this.#storage.log.flush())
  }

  #stateChanged(from: MemberState, to: MemberState): void {
    this.#events.stateChanged(from, to)
    if (this.#rules.stateClosesConnections && (from === 'PRIMARY' || to === 'REMOVED' || to === 'ROLLBACK'))
      this.#context.port()?.closeConnections()
    if (to !== 'ROLLBACK') return
    // A rollback changes the data under the readers.
    this.#reads.end()
    this.#reads.cursors.closeWhere(() => true)
    this.#replaceServing('secondary')
  }

  #topologyChanged(): void {
    const { config, leaderMode } = this.#protocol.coordinator.state
    if (config !== this.#servedConfig && this.#serving?.mode === 'primary') this.#serving.role.configChanged?.()
    this.#servedConfig = config
    if (leaderMode === 'attempting-step-down') this.#current.interruptWrites()
  }

  /** An entry of another member was applied. */
  #applied(entry: LogEntry): void {
    const { role } = this.#current
    noteApplied(role.node, entry)
    role.applied?.(entry)
  }
}

/** In seconds: a year. */
const forever = 31_536_000

function configurationOf({ version, term, members }: ReplicaSetConfig): Record<string, unknown> {
  return { version, term, hosts: members.map(({ host }) => host) }
}
