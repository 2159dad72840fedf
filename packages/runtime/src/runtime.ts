import type { Actor, Address, ClusterEvent, MessageKind, ReplyOf, RequestOf, RequestOptions } from '@shardlab/actor'
import type { NewHostFault } from './host/faults/host-fault.js'
import type { StepFaultAction } from './host/faults/step-faults.js'
import type { Alarm } from './host/time/clock.js'

/** One member to be started. Plain data, because it may be posted to a worker. */
export interface MemberSpec {
  /** Unique in the cluster. */
  readonly address: Address
  /** A name among the runtime's roles. */
  readonly role: string
  /** For the role's factory; must survive a structured clone. */
  readonly options: unknown
  /** Where clients reach the member, port 0 for any free one; null: clients cannot reach it. */
  readonly listen: { readonly host: string; readonly port: number } | null
  /** Size of the member's disk in bytes; 0: no disk, every append fails with DiskFullError. */
  readonly diskLimitBytes: number
}

export type MemberState = 'starting' | 'running' | 'stopped' | 'crashed'

export interface MemberInfo {
  readonly address: Address
  readonly role: string
  readonly state: MemberState
  /**
   * `host:port`. Only a name, with no listener, for a member that clients cannot reach and in the
   * simulated runtime.
   */
  readonly endpoint: string
  /** The thread of the member; the caller's own is 0. */
  readonly threadId: number
}

/** Arms faults at the named steps that actors pass with `reach`. */
export interface StepControls {
  /**
   * Resolves with the fault's id once every host has applied it.
   * `hold` blocks members at the step until the fault is healed, `fail` makes `reach` throw a
   * StepFailedError, `crash` crashes the member without warning, `note` only counts.
   */
  arm(step: string, action: StepFaultAction, options?: StepFaultOptions): Promise<number>
  /**
   * Disarms the fault and resumes the members that it holds. No error for an unknown id.
   */
  heal(id: number): Promise<void>
  /**
   * Resolves with the first member that the fault struck, at once when it has struck already.
   * Rejects for an unknown id.
   */
  struck(id: number): Promise<Address>
  /** How often the fault has struck; 0 for an unknown id. */
  strikes(id: number): number
}

export interface StepFaultOptions {
  /** Only this member; default: every member. */
  readonly address?: Address
  /**
   * The fault strikes that often, all members counted together; members that it holds stay held.
   * Default: until healed.
   */
  readonly times?: number
  /** Called for each strike; in a simulation synchronously, at the moment of the strike. */
  readonly onStruck?: (address: Address) => void
}

/** Applies faults to links and members. */
export interface FaultControls {
  /** Resolves with the fault's id once every host has applied it. */
  apply(fault: NewHostFault): Promise<number>
  /** No error for an unknown id. */
  heal(id: number): Promise<void>
  /** How often a link fault has struck; 0 for a fault of a member. */
  strikes(id: number): number
}

/** What callers may add to a runtime. */
export interface RuntimeHooks {
  /** Answers requests of members to the address `cluster`. Default: they fail as unreachable. */
  readonly outside?: Actor
}

/** A world that runs actors. The same actors behave the same in every world. */
export interface Runtime {
  readonly kind: 'threads' | 'inline' | 'simulated'
  readonly steps: StepControls
  readonly faults: FaultControls
  /**
   * Starts members concurrently and resolves when all have started and listen. Rejects with the
   * error of the first of them that could not start; the others keep running.
   */
  start(members: readonly MemberSpec[]): Promise<MemberInfo[]>
  /**
   * Sends a request from the address `cluster`.
   * @throws RequestFailedError like `ActorContext.request`.
   */
  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>>
  /**
   * Ends a member at once and without warning, and keeps its disk. No error when it is down
   * already.
   */
  crash(address: Address): Promise<void>
  /**
   * Shuts a member down in order and keeps its disk. Resolves when it is down; no error when it is
   * down already.
   */
  halt(address: Address): Promise<void>
  /** Gives a member that is down a new, empty disk. Rejects when it is up. */
  replaceDisk(address: Address): Promise<void>
  /** Restarts a crashed or stopped member on its disk and its port. Rejects when it is neither. */
  restart(address: Address): Promise<MemberInfo>
  /** The result of the member's `Actor.describe`; rejects when it is not running. */
  describe(address: Address): Promise<Record<string, unknown>>
  /**
   * The same methods for work that runs next to a call that the caller awaits. They differ in a
   * simulation only, where they do not advance the virtual time.
   */
  readonly background: Pick<Runtime, 'request' | 'halt' | 'restart'>
  /** Waits for background work; a simulation advances its time until the work has settled. */
  during<T>(work: Promise<T>): Promise<T>
  /**
   * Calls `wake` once, after that time on the world's clock. The alarm does not keep the process
   * alive.
   */
  alarm(delayMs: number, wake: () => void): Alarm
  /** Milliseconds since the epoch on the world's clock. */
  now(): number
  /** Emits an event of the supervisor. */
  emit(event: ClusterEvent): void
  /** In the order in which they were started. */
  members(): MemberInfo[]
  /** Undefined: the member is unknown. */
  member(address: Address): MemberInfo | undefined
  /** @returns a function that removes the listener */
  onEvent(listener: (event: ClusterEvent) => void): () => void
  /**
   * Sets which types of events are delivered (`ActorContext.wants`); members drop the others.
   * Default: all but `routed`.
   */
  watch(types: readonly ClusterEvent['type'][]): void
  /** Shuts all members down in order; the runtime cannot be used afterwards. */
  stop(): Promise<void>
}
