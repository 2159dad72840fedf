/**
 * One member of a replica set of several: it runs the protocol, keeps the data, and serves a role
 * on it, as primary or as secondary.
 */
import {
  type Actor,
  type ActorContext,
  type Address,
  type CancelSignal,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import { ForwardingContext } from '@shardlab/member'
import type {
  HelloOptions,
  InitiateOptions,
  MemberState,
  OpTime,
  ReplicaSetConfig,
  ReplicationCoordinator,
  StepDownArguments,
  WriteConcern,
} from '@shardlab/replication'
import type { LogEntry, StorageEngine } from '@shardlab/storage'
import type { StorageNodeOptions } from '../host/node-host.js'
import { NodeStorage } from '../host/node-storage.js'
import type { NodeOfSet, StorageNode } from '../host/storage-node.js'
import { LagWatch } from './lag-watch.js'
import type { ReconfigureArguments } from './protocol/reconfiguration.js'
import type { ProtocolHooks } from './protocol/protocol-hooks.js'
import { persist } from './protocol/persist.js'
import { replicationTimer, SetProtocol } from './protocol/set-protocol.js'
import type { ReplicaSet } from './replica-set.js'
import { RollbackFiles } from './rollback-files/rollback-files.js'
import { SetEvents } from './set-events.js'
import { noteApplied } from './serving/note-applied.js'
import { RevocableContext } from './serving/revocable-context.js'
import { Serving, type ServedRole, type ServingMode } from './serving/serving.js'
import { DiskWithDocuments } from './storage/disk-with-documents.js'
import { NodeReplicaLog } from './storage/node-replica-log.js'
import { StableState } from './storage/stable-state.js'

export interface SetOptions {
  readonly name: string
}

export type ServeRole = (context: ActorContext, ofSet: NodeOfSet) => ServedRole

/** Other members read it: one that was down longer than it reaches back needs an initial sync. */
const defaultOplogSizeBytes = 16 * 1024 * 1024

/** The context of the data, whose disk also keeps documents of the member. */
class StorageContext extends ForwardingContext {
  override readonly disk: DiskWithDocuments

  constructor(context: ActorContext) {
    super(context)
    this.disk = new DiskWithDocuments(context.disk)
  }
}

export class SetMember implements Actor, ReplicaSet {
  readonly #context: ActorContext
  readonly #options: SetOptions
  readonly #serve: ServeRole
  readonly #storage: NodeStorage
  readonly #disk: DiskWithDocuments
  readonly #stable: StableState
  readonly #protocol: SetProtocol
  readonly #rollbackFiles: RollbackFiles
  readonly #events: SetEvents
  readonly #lagWatch: LagWatch
  #serving!: Serving
  #servedConfig: ReplicaSetConfig | null = null

  constructor(context: ActorContext, nodeOptions: StorageNodeOptions, options: SetOptions, serve: ServeRole) {
    this.#context = context
    this.#options = options
    this.#serve = serve
    const storageContext = new StorageContext(context)
    this.#disk = storageContext.disk
    this.#storage = new NodeStorage(storageContext, { oplogSizeBytes: defaultOplogSizeBytes, ...nodeOptions })
    this.#stable = new StableState(this.#storage, () => context.now())
    this.#events = new SetEvents(context, options.name)
    this.#rollbackFiles = new RollbackFiles({
      disk: this.#disk,
      behaviours: nodeOptions.behaviours,
      now: () => context.now(),
      isOn: () => this.#serving.role.node.parameters.bool('createRollbackDataFiles'),
      onLimit: (bytesMax) => this.#events.limitReached('rollbackFilesBytesMax', bytesMax),
    })
    const log = new NodeReplicaLog({
      storage: this.#storage,
      disk: this.#disk,
      stable: this.#stable,
      rollbackFiles: this.#rollbackFiles,
      applied: (entry) => this.#applied(entry),
    })
    this.#protocol = new SetProtocol({
      context,
      log,
      clock: this.#storage.clock,
      rules: nodeOptions.behaviours,
      setName: options.name,
      hooks: this.#hooks(),
    })
    this.#lagWatch = new LagWatch(this.coordinator)
  }

  async start(): Promise<void> {
    this.#storage.log.term = () => this.coordinator.state.term
    this.#storage.log.recover(() => this.#stable.reset())
    this.#serving = this.#open('secondary', null)
    await this.#serving.role.actor.start?.()
    this.#protocol.start()
  }

  /**
   * All members but arbiters write the same first entry, so their oplogs have a common point, and
   * none needs an initial sync.
   */
  async #initiate({ config, atMs, isPrimary }: RequestOf<'replication.initiate'>): Promise<void> {
    const { log } = this.#storage
    if (this.coordinator.state.config !== null || log.lastApplied !== null) return
    if (!this.#protocol.isArbiterIn(config)) {
      log.initiate([Math.floor(atMs / 1000), 1], atMs)
      await log.flush()
    }
    await this.#protocol.initiate(config, isPrimary)
  }

  async #switch({ name, value }: RequestOf<'faults.switch'>): Promise<void> {
    if (name === 'delayed-replication') this.#protocol.delayReplication(Number(value))
    else if (name === 'stepped-down') await this.#keepFromPrimary(value !== null)
    else await this.#serving.role.node.serve('faults.switch', { name, value })
  }

  /** The fault `step down`: until it is healed, this member is not elected. */
  async #keepFromPrimary(on: boolean): Promise<void> {
    const { commands, state } = this.coordinator
    if (on && state.isPrimary) await this.#protocol.stepDown({ seconds: forever, catchUpSeconds: 0, force: true })
    else commands.freeze(this.#context.steadyNow(), on ? forever : 0)
    this.#protocol.carryOut()
  }

  get coordinator(): ReplicationCoordinator {
    return this.#protocol.coordinator
  }

  async wake(timer: string): Promise<void> {
    if (timer === replicationTimer) this.#protocol.wake()
    else await this.#serving.role.actor.wake?.(timer)
  }

  async stop(): Promise<void> {
    await this.#serving.role.actor.stop?.()
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (kind === 'faults.switch')
      return this.#switch(request as RequestOf<'faults.switch'>).then(() => ({}) as ReplyOf<K>)
    if (kind === 'replication.initiate')
      return this.#initiate(request as RequestOf<'replication.initiate'>).then(() => ({}) as ReplyOf<K>)
    if (kind === 'replication.rollback-files') return { files: this.#rollbackFiles.list() } as ReplyOf<K>
    if (kind === 'replication.read-rollback-file')
      return this.#rollbackFiles.read(request as RequestOf<'replication.read-rollback-file'>) as ReplyOf<K>
    const answer = this.#protocol.receive(kind, request)
    if (answer !== null) return answer as Promise<ReplyOf<K>> | ReplyOf<K>
    return this.#serving.receive(kind, request, from)
  }

  describe(): Record<string, unknown> {
    const { memberState, committed, state } = this.coordinator
    return {
      ...this.#serving.role.actor.describe?.(),
      state: memberState,
      isWritable: this.coordinator.isWritablePrimary,
      term: state.term,
      syncSource: state.syncSource,
      lastApplied: this.#protocol.log.last.optime,
      committed: committed.optime,
    }
  }

  // What commands need.

  get context(): ActorContext {
    return this.#context
  }

  get lastApplied(): OpTime {
    return this.#protocol.log.last.optime
  }

  get storedConfig(): Uint8Array | null {
    return this.#protocol.log.stored.config
  }

  get isCommitted(): boolean {
    return this.coordinator.isCommitted(this.lastApplied)
  }

  get rollbackId(): number {
    return this.#protocol.rollbackId
  }

  carryOut(): void {
    this.#protocol.carryOut()
  }

  awaitWriteConcern(
    target: OpTime,
    concern: WriteConcern,
    limits: { readonly timeoutMs: number | null; readonly signal?: CancelSignal },
  ): Promise<CommandError | null | 'late'> {
    return this.#protocol.waits.awaitWriteConcern(target, concern, limits)
  }

  awaitMajority(target: OpTime, signal?: CancelSignal): Promise<CommandError | null> {
    return this.#protocol.waits.awaitMajority(target, signal)
  }

  awaitTopology(counter: number, timeoutMs: number, signal: CancelSignal): Promise<boolean> {
    return this.#protocol.waits.awaitTopology(counter, timeoutMs, signal)
  }

  awaitApplied(ts: OpTime['ts'], signal: CancelSignal): Promise<boolean> {
    return this.#protocol.waits.awaitApplied(ts, signal)
  }

  awaitCommitted(ts: OpTime['ts'], signal: CancelSignal): Promise<void> {
    return this.#protocol.waits.awaitCommitted(ts, signal)
  }

  async awaitMajorityOfNoop(signal: CancelSignal): Promise<CommandError | null> {
    if (!this.coordinator.isWritablePrimary) return notPrimaryForLinearizable()
    const { optime } = this.#protocol.log.appendNoop('linearizable read')
    await this.#protocol.log.flush()
    return this.#protocol.waits.awaitMajority(optime, signal)
  }

  majorityEngine(): StorageEngine {
    return this.#stable.engineAt(this.coordinator.committed.optime)
  }

  stepDown(args: StepDownArguments): Promise<CommandError | null> {
    return this.#protocol.stepDown(args)
  }

  stepUp(skipDryRun: boolean): Promise<CommandError | null> {
    return this.#protocol.stepUp(skipDryRun)
  }

  initiate(document: Uint8Array, options: Pick<InitiateOptions, 'isConfigServer'>): Promise<CommandError | null> {
    const replicaSetId = this.#serving.role.node.newObjectId()
    return this.#protocol.initiateByCommand(document, { ...options, replicaSetId }, async () => {
      const { log } = this.#storage
      if (log.lastApplied !== null) return
      const nowMs = this.#context.now()
      log.initiate([Math.floor(nowMs / 1000), 1], nowMs)
      await log.flush()
    })
  }

  reconfigure(args: ReconfigureArguments, signal: CancelSignal): Promise<CommandError | null> {
    return this.#protocol.reconfigure(args, signal)
  }

  writeHello(writer: DocumentWriter, legacy: boolean): void {
    this.coordinator.commands.writeHello(writer, { legacy, ...this.#helloFacts() })
  }

  writeReplStatus(writer: DocumentWriter): void {
    this.coordinator.commands.writeReplStatus(writer, this.#helloFacts(), this.rollbackId)
  }

  #helloFacts(): Omit<HelloOptions, 'legacy'> {
    const { node } = this.#serving.role
    return {
      processId: node.processId,
      majorityReads: this.coordinator.committed.optime,
      role: node.role.name === 'mongod' ? 'none' : node.role.name,
      defaultWriteConcern: null,
    }
  }

  status(): DocumentWriter | CommandError {
    const nowMs = this.#context.now()
    return this.coordinator.commands.getStatus(this.#context.steadyNow(), {
      uptimeSecs: Math.floor((nowMs - this.#serving.role.node.startedAtMs) / 1000),
      majorityReads: this.coordinator.committed,
      stableRecoveryTimestamp: this.#stable.optime.ts,
      initialSyncStatus: null,
      tooStale: this.coordinator.memberState === 'RECOVERING' && this.coordinator.state.maintenanceCalls === 0,
    })
  }

  #hooks(): ProtocolHooks {
    return {
      stateChanged: (from, to) => this.#stateChanged(from, to),
      beginWrites: () => this.#beginWrites(),
      endWrites: () => this.#endWrites(),
      topologyChanged: () => this.#topologyChanged(),
      committed: (point) => this.#stable.advance(point.optime),
      elected: (result) => this.#events.elected(result),
      woken: () => this.#lagWatch.check(this.#context.now()).forEach((lag) => this.#events.lagging(lag)),
      steppedDown: (term, reason) => this.#events.steppedDown(term, reason),
      rolledBack: (to, entries, namespaces) => this.#events.rolledBack(to, entries, namespaces),
    }
  }

  #open(mode: ServingMode, previous: StorageNode | null): Serving {
    const context = new RevocableContext(this.#context, this.#options.name)
    const role = this.#serve(context, { storage: this.#storage, set: this, mode, previous })
    return new Serving(mode, role, context)
  }

  /** Ends what is served now, and serves on the same data in another mode. */
  async #replaceServing(mode: ServingMode): Promise<void> {
    const ended = this.#serving
    const next = this.#open(mode, ended.role.node)
    this.#serving = next
    ended.end()
    await next.role.actor.start?.()
  }

  async #beginWrites(): Promise<void> {
    await this.#replaceServing('primary')
  }

  async #endWrites(): Promise<void> {
    if (this.#serving.mode !== 'primary') return
    await this.#replaceServing('secondary')
    await persist(this.#context, () => this.#storage.log.flush())
  }

  #stateChanged(from: MemberState, to: MemberState): void {
    this.#events.stateChanged(from, to)
    // A rollback changes the data under the readers.
    if (to === 'ROLLBACK') this.#context.detach(this.#replaceServing('secondary'))
  }

  #topologyChanged(): void {
    const { config } = this.coordinator.state
    if (config !== this.#servedConfig && this.#serving.mode === 'primary') this.#serving.role.configChanged?.()
    this.#servedConfig = config
    if (this.coordinator.state.leaderMode === 'attempting-step-down') this.#serving.interruptWrites()
  }

  /** An entry of another member was applied. */
  #applied(entry: LogEntry): void {
    noteApplied(this.#serving.role.node, entry)
  }
}

/** In seconds: a year. */
const forever = 31_536_000

const notPrimaryForLinearizable = (): CommandError =>
  new CommandError('NotWritablePrimary', 'cannot satisfy linearizable read concern on non-primary node')
