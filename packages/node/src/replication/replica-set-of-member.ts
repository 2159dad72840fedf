/** What commands need of the set of their node. */
import { createDeferred, type ActorContext, type CancelSignal } from '@shardlab/actor'
import { CommandError, ErrorCodes, type DocumentWriter } from '@shardlab/bson'
import {
  compareOpTimes,
  configDocument,
  type HelloOptions,
  type InitiateOptions,
  type MemberState,
  type OpTime,
  type ReplicationCoordinator,
  type ReplicationRules,
  type StepDownArguments,
  type WriteConcern,
} from '@shardlab/replication'
import type { StorageEngine } from '@shardlab/storage'
import type { NodeStorage } from '../host/node-storage.js'
import type { StorageNode } from '../host/storage-node.js'
import { snapshotAt } from './concerns/read-concern.js'
import { storedDefaultWriteConcern } from './concerns/stored-defaults.js'
import { initiate } from './protocol/initiation.js'
import { NoteRequests } from './protocol/note-requests.js'
import { ignoreFullDisk } from './protocol/persist.js'
import { reconfigure, type ReconfigureArguments } from './protocol/reconfiguration.js'
import type { SetProtocol } from './protocol/set-protocol.js'
import type { ReplicaSet } from './replica-set.js'
import { majorityNotAvailable, type StableState } from './storage/stable-state.js'

export interface ReplicaSetParts {
  readonly context: ActorContext
  readonly rules: ReplicationRules
  readonly storage: NodeStorage
  readonly stable: StableState
  readonly protocol: SetProtocol
  /** The node that serves now. */
  readonly node: () => StorageNode
}

export class ReplicaSetOfMember implements ReplicaSet {
  readonly #parts: ReplicaSetParts
  readonly #protocol: SetProtocol
  readonly #notes: NoteRequests
  /** Without the progress of the last writes: see {@link coordinator}. */
  readonly #coordinator: ReplicationCoordinator

  constructor(parts: ReplicaSetParts) {
    this.#parts = parts
    this.#protocol = parts.protocol
    this.#coordinator = parts.protocol.coordinator
    this.#notes = new NoteRequests(parts.protocol, parts.protocol.waits)
  }

  get context(): ActorContext {
    return this.#parts.context
  }

  get coordinator(): ReplicationCoordinator {
    this.#protocol.update()
    return this.#coordinator
  }

  get lastApplied(): OpTime {
    return this.#protocol.log.last.optime
  }

  get committed(): OpTime {
    return this.isAlone ? this.#protocol.log.durable.optime : this.#coordinator.committed.optime
  }

  get appliedTs(): OpTime['ts'] {
    return this.#parts.storage.log.lastTs
  }

  get committedTs(): OpTime['ts'] {
    return this.coordinator.committed.optime.ts
  }

  get isPrimary(): boolean {
    return this.#coordinator.state.isPrimary
  }

  get isWritablePrimary(): boolean {
    return this.#coordinator.isWritablePrimary
  }

  get memberState(): MemberState {
    return this.#coordinator.memberState
  }

  get isAlone(): boolean {
    return this.#coordinator.isAlone
  }

  get config(): Uint8Array | null {
    const { config } = this.#coordinator.state
    return config === null ? null : configDocument(config, this.#parts.rules, true)
  }

  get isCommitted(): boolean {
    return this.isAlone || this.#coordinator.isCommitted(this.lastApplied)
  }

  get isAloneAndWritten(): boolean {
    return this.isAlone && compareOpTimes(this.committed, this.lastApplied) >= 0
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
    this.#protocol.update()
    return this.#protocol.waits.awaitWriteConcern(target, concern, limits)
  }

  awaitTopology(counter: number, timeoutMs: number, signal: CancelSignal): Promise<boolean> {
    return this.#protocol.waits.awaitTopology(counter, timeoutMs, signal)
  }

  awaitApplied(ts: OpTime['ts'], signal: CancelSignal, patienceMs: number): Promise<boolean> {
    return this.#notes.awaitApplied(ts, signal, patienceMs)
  }

  awaitCommitted(ts: OpTime['ts'], signal?: CancelSignal): Promise<void> {
    this.#protocol.update()
    if (this.isAlone && !this.isAloneAndWritten) this.#flushLater()
    return this.#protocol.waits.awaitCommitted(ts, signal)
  }

  appendNoop(message: string): void {
    this.#protocol.log.appendNoop(message)
    this.#flushLater()
  }

  /** On a full disk the entries wait for the next write. */
  #flushLater(): void {
    this.#parts.context.detach(this.#protocol.log.flush().catch(ignoreFullDisk))
  }

  async confirmPrimary(reason: string, signal: CancelSignal): Promise<CommandError | null> {
    if (!this.isWritablePrimary)
      return new CommandError('NotWritablePrimary', `cannot confirm the ${reason} on non-primary node`)
    if (this.isAlone) {
      if (!this.isAloneAndWritten) await this.#flush(signal)
      return null
    }
    const { optime } = this.#protocol.log.appendNoop(reason)
    await this.#flush(signal)
    return signal.aborted ? null : this.#protocol.waits.awaitMajority(optime, signal)
  }

  /** Resolves also when the signal aborts; the flush continues. */
  async #flush(signal: CancelSignal): Promise<void> {
    const aborted = createDeferred<void>()
    const abort = (): void => aborted.resolve()
    signal.addEventListener('abort', abort)
    try {
      await Promise.race([this.#protocol.log.flush(), aborted.promise])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  majorityEngine(): StorageEngine {
    const { node, stable, storage } = this.#parts
    if (!this.isAlone) {
      const { optime } = this.#coordinator.committed
      return node().transactions.log.logged.recent.completed(stable.engineAt(optime), optime.ts)
    }
    return this.isAloneAndWritten ? storage.engine : this.#writtenEngine(node())
  }

  /** @throws CommandError 134: the history of snapshots no longer has the newest written entry */
  #writtenEngine(node: StorageNode): StorageEngine {
    try {
      return snapshotAt(node, this.committed.ts)
    } catch (error) {
      if (error instanceof CommandError && error.code === ErrorCodes.SnapshotTooOld) throw majorityNotAvailable()
      throw error
    }
  }

  stepDown(args: StepDownArguments): Promise<CommandError | null> {
    this.#protocol.update()
    return this.#protocol.stepDown(args)
  }

  async stepUp(skipDryRun: boolean): Promise<CommandError | null> {
    const { commands } = this.coordinator
    const refusal = commands.stepUp(this.#protocol.nowMs, skipDryRun)
    if (refusal !== null) return refusal
    this.carryOut()
    await this.#protocol.waits.within(null, () => (this.#coordinator.isCandidate ? null : true))
    return commands.stepUpResult()
  }

  initiate(document: Uint8Array, options: Pick<InitiateOptions, 'isConfigServer'>): Promise<CommandError | null> {
    const { context, node, storage } = this.#parts
    const replicaSetId = node().newObjectId()
    const writeFirstEntry = async () => {
      const { log } = storage
      if (log.lastApplied !== null) return
      const nowMs = context.now()
      log.initiate([Math.floor(nowMs / 1000), 1], nowMs)
      await log.flush()
    }
    return initiate(this.#protocol, document, { ...options, replicaSetId }, writeFirstEntry)
  }

  reconfigure(args: ReconfigureArguments, signal: CancelSignal): Promise<CommandError | null> {
    this.#protocol.update()
    return reconfigure(this.#protocol, args, signal)
  }

  writeHello(writer: DocumentWriter, legacy: boolean): void {
    this.coordinator.commands.writeHello(writer, { legacy, ...this.#helloFacts })
  }

  writeReplStatus(writer: DocumentWriter): void {
    this.coordinator.commands.writeReplStatus(writer, this.#helloFacts, this.rollbackId)
  }

  get #helloFacts(): Omit<HelloOptions, 'legacy'> {
    const node = this.#parts.node()
    const { processId, role } = node
    return {
      processId,
      majorityReads: this.#coordinator.committed.optime,
      role: role.name === 'mongod' ? 'none' : role.name,
      defaultWriteConcern: role.name === 'mongod' ? null : storedDefaultWriteConcern(node),
    }
  }

  status(): DocumentWriter | CommandError {
    const { context, node, stable } = this.#parts
    const { commands, committed, memberState, state } = this.coordinator
    const nowMs = context.now()
    return commands.getStatus(context.steadyNow(), {
      uptimeSecs: Math.floor((nowMs - node().startedAtMs) / 1000),
      majorityReads: committed,
      stableRecoveryTimestamp: (this.isAlone ? committed.optime : stable.optime).ts,
      initialSyncStatus: null,
      tooStale: memberState === 'RECOVERING' && state.maintenanceCalls === 0,
    })
  }
}
