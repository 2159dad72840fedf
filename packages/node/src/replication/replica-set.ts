/** The replica set of a node, of one or of several members, as its commands use it. */
import type { ActorContext, CancelSignal } from '@shardlab/actor'
import type { CommandError, DocumentWriter } from '@shardlab/bson'
import type { StorageEngine } from '@shardlab/storage'
import type {
  InitiateOptions,
  MemberState,
  OpTime,
  ReplicationCoordinator,
  StepDownArguments,
  WriteConcern,
} from '@shardlab/replication'
import type { ReconfigureArguments } from './protocol/reconfiguration.js'

export interface ReplicaSet {
  /** Of the member. Unlike that of its node, it outlives changes of the state. */
  readonly context: ActorContext
  /** Reading it costs a report of this member's progress; not for each command. */
  readonly coordinator: ReplicationCoordinator
  /** The newest applied entry. */
  readonly lastApplied: OpTime
  /** The newest entry that a majority has, as far as this member knows. */
  readonly committed: OpTime
  /** The time of {@link lastApplied}; of all fields the cheapest. */
  readonly appliedTs: OpTime['ts']
  /** The time of the newest entry that a majority has; `[0, 0]`: a majority has no entry yet. */
  readonly committedTs: OpTime['ts']
  /** True also while it does not accept writes yet, or any more. */
  readonly isPrimary: boolean
  readonly isWritablePrimary: boolean
  readonly memberState: MemberState
  /** Whether this is the only member: a write is on a majority as soon as it is on the disk. */
  readonly isAlone: boolean
  /** Whether a majority has everything that is applied. */
  readonly isCommitted: boolean
  /** The only member, with all that it has applied on its disk: its data is that of a majority. */
  readonly isAloneAndWritten: boolean
  readonly rollbackId: number
  /** The document of `local.system.replset`; null: the set was not initiated. */
  readonly config: Uint8Array | null
  /**
   * Waits until enough members have the entry.
   * @returns the error that ends the wait; null: satisfied; `late`: not within the time
   */
  awaitWriteConcern(
    target: OpTime,
    concern: WriteConcern,
    limits: { readonly timeoutMs: number | null; readonly signal?: CancelSignal },
  ): Promise<CommandError | null | 'late'>
  /** @returns whether the topology has another counter now */
  awaitTopology(counter: number, timeoutMs: number, signal: CancelSignal): Promise<boolean>
  /** As {@link NoteRequests.awaitApplied}. */
  awaitApplied(ts: OpTime['ts'], signal: CancelSignal, patienceMs: number): Promise<boolean>
  /** Resolves when a majority has everything up to that time, or the signal aborts. */
  awaitCommitted(ts: OpTime['ts'], signal?: CancelSignal): Promise<void>
  /** Adds an entry without effect, so that the applied time advances. On a primary only. */
  appendNoop(message: string): void
  /**
   * @param reason of the entry without effect that a majority must have: what is confirmed
   * @returns why this member may not be primary of its set now; null: a majority confirms it
   */
  confirmPrimary(reason: string, signal: CancelSignal): Promise<CommandError | null>
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
