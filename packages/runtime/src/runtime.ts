import type { Actor, Address, ClusterEvent, MessageKind, ReplyOf, RequestOf, RequestOptions } from '@shardlab/actor'
import type { Alarm } from './host/time/clock.js'
import type { NewHostFault } from './host/faults/host-fault.js'
import type { StepFaultAction } from './host/faults/step-faults.js'

/** One member to be started. Plain data, because it may have to cross to a worker. */
export interface MemberSpec {
  /** Unique in the cluster. */
  readonly address: Address
  /** A name among the runtime's roles. */
  readonly role: string
  /** Handed to the role's factory; must survive a structured clone. */
  readonly options: unknown
  /** Where clients reach the member, port 0 for any free one; null: clients cannot reach it. */
  readonly listen: { readonly host: string; readonly port: number } | null
  /** Size of the member's disk in bytes; 0: no disk, every append is refused as on a full one. */
  readonly diskLimitBytes: number
}

export type MemberState = 'starting' | 'running' | 'stopped' | 'crashed'

export interface MemberInfo {
  readonly address: Address
  readonly role: string
  readonly state: MemberState
  /** `host:port`; a name that nothing listens on for a member that clients cannot reach, and in the simulated runtime. */
  readonly endpoint: string
  /** The thread that it runs on; the caller's own is 0. */
  readonly threadId: number
}

/** Arms faults at the named steps that actors pass with `reach`. */
export interface StepControls {
  /**
   * Resolves with the fault's id once every host knows it.
   * `hold` keeps whoever reaches the step there until the fault is healed, `fail` makes `reach` throw a
   * StepFailedError, `crash` crashes the member without warning, `note` only counts.
   */
  arm(step: string, action: StepFaultAction, options?: StepFaultOptions): Promise<number>
  /** Disarms the fault and lets go whoever it holds. No error when there is no such fault. */
  heal(id: number): Promise<void>
  /** Resolves with the member that the fault struck first; at once when it has struck already. Rejects for an unknown id. */
  struck(id: number): Promise<Address>
  /** How often the fault has struck; 0 when there is none. */
  strikes(id: number): number
}

export interface StepFaultOptions {
  /** Only this member; default: every member. */
  readonly address?: Address
  /** Strikes that often, whoever is struck (what it holds stays held). Default: until healed. */
  readonly times?: number
  /** Called each time with the member that it struck; in a simulation at that very moment. */
  readonly onStruck?: (address: Address) => void
}

/** Applies faults to links and members. */
export interface FaultControls {
  /** Resolves with the fault's id once every host knows it. */
  apply(fault: NewHostFault): Promise<number>
  /** No error when there is no such fault. */
  heal(id: number): Promise<void>
  /** How often a fault of links has struck; 0 for others. */
  strikes(id: number): number
}

/** What a runtime does beside running members. */
export interface RuntimeHooks {
  /** Answers what members ask of the address `cluster`. Default: nothing answers there. */
  readonly outside?: Actor
}

/** A world that runs actors. The same actors behave the same in all three. */
export interface Runtime {
  readonly kind: 'threads' | 'inline' | 'simulated'
  readonly steps: StepControls
  readonly faults: FaultControls
  /**
   * Starts members concurrently; resolves when all have started and listen. Rejects with the first error of a
   * member that could not start; the others stay.
   */
  start(members: readonly MemberSpec[]): Promise<MemberInfo[]>
  /** A request from outside, from the address `cluster`. @throws RequestFailedError like `ActorContext.request`. */
  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>>
  /** Stops a member at once and without warning; its disk stays. No error when it is down already. */
  crash(address: Address): Promise<void>
  /** Ends a member in order; its disk stays. Resolves when it is down; no error when it is already. */
  halt(address: Address): Promise<void>
  /** A new, empty disk for a member that is down. Rejects when it is not. */
  replaceDisk(address: Address): Promise<void>
  /** Starts a crashed or stopped member again on its disk and its port. Rejects when it is neither. */
  restart(address: Address): Promise<MemberInfo>
  /** What the member says about itself (`Actor.describe`); rejects when it is not running. */
  describe(address: Address): Promise<Record<string, unknown>>
  /** The same without making time pass: for what happens beside that for which somebody waits. Only in a simulation does it differ. */
  readonly background: Pick<Runtime, 'request' | 'halt' | 'restart'>
  /** Waits for work in the background; in a simulation time passes meanwhile. */
  during<T>(work: Promise<T>): Promise<T>
  /** Calls `wake` once after that time by the world's clock. It does not keep the process alive. */
  alarm(delayMs: number, wake: () => void): Alarm
  /** Milliseconds since the epoch by the world's clock. */
  now(): number
  /** Reports an event of the supervisor's own. */
  emit(event: ClusterEvent): void
  /** In the order in which they were started. */
  members(): MemberInfo[]
  /** One of them; undefined when there is no such member. */
  member(address: Address): MemberInfo | undefined
  /** @returns a function that takes the listener away. */
  onEvent(listener: (event: ClusterEvent) => void): () => void
  /** Which types of events anybody wants (`ActorContext.wants`); the others are dropped at the member. Default: all but `routed`. */
  watch(types: readonly ClusterEvent['type'][]): void
  /** Orderly shutdown of all members; the runtime cannot be used afterwards. */
  stop(): Promise<void>
}
