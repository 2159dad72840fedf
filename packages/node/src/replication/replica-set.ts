/** The replica set of a node with several members, as its commands use it. */
import type { ActorContext, CancelSignal } from '@shardlab/actor'
import type { CommandError, DocumentWriter } from '@shardlab/bson'
import type { StorageEngine } from '@shardlab/storage'
import type {
  InitiateOptions,
  OpTime,
  ReplicationCoordinator,
  StepDownArguments,
  WriteConcern,
} from '@shardlab/replication'
import type { ReconfigureArguments } from './protocol/reconfiguration.js'

export interface ReplicaSet {
  /** Of the member. Unlike that of its node, it outlives changes of the state. */
  readonly context: ActorContext
  readonly coordinator: ReplicationCoordinator
  /** The newest applied entry. */
  readonly lastApplied: OpTime
  /** Whether a majority has everything that is applied. */
  readonly isCommitted: boolean
  readonly rollbackId: number
  /** The configuration on the disk; null: none. */
  readonly storedConfig: Uint8Array | null
  /**
   * Waits until enough members have the entry.
   * @returns the error that ends the wait; null: satisfied; `late`: not within the time
   */
  awaitWriteConcern(
    target: OpTime,
    concern: WriteConcern,
    limits: { readonly timeoutMs: number | null; readonly signal?: CancelSignal },
  ): Promise<CommandError | null | 'late'>
  /**
   * Resolves when a majority has the entry.
   * @returns the error that ends the wait; null: they have it
   */
  awaitMajority(target: OpTime, signal?: CancelSignal): Promise<CommandError | null>
  /** @returns whether the topology has another counter now */
  awaitTopology(counter: number, timeoutMs: number, signal: CancelSignal): Promise<boolean>
  /** @returns whether an entry of that time or a later one is applied; false: the signal aborted */
  awaitApplied(ts: OpTime['ts'], signal: CancelSignal): Promise<boolean>
  /** Resolves when a majority has everything up to that time, or the signal aborts. */
  awaitCommitted(ts: OpTime['ts'], signal: CancelSignal): Promise<void>
  /** Writes an entry without effect. @returns the error that ends the wait for a majority */
  awaitMajorityOfNoop(signal: CancelSignal): Promise<CommandError | null>
  /** The data that a majority has; it must not be changed. */
  majorityEngine(): StorageEngine
  /** @returns the error; null: this member is a secondary now */
  stepDown(args: StepDownArguments): Promise<CommandError | null>
  /** @returns the error; null: this member is primary now */
  stepUp(skipDryRun: boolean): Promise<CommandError | null>
  /** replSetInitiate. @returns the error; null: the configuration is in effect */
  initiate(document: Uint8Array, options: Pick<InitiateOptions, 'isConfigServer'>): Promise<CommandError | null>
  /** replSetReconfig. @returns the error; null: the configuration is in effect */
  reconfigure(args: ReconfigureArguments, signal: CancelSignal): Promise<CommandError | null>
  /** Call it after a command that the coordinator has taken directly. */
  carryOut(): void
  /** Appends the part of hello about the set. */
  writeHello(writer: DocumentWriter, legacy: boolean): void
  /** Appends the fields of serverStatus.repl. */
  writeReplStatus(writer: DocumentWriter): void
  /** The reply of replSetGetStatus. */
  status(): DocumentWriter | CommandError
}
