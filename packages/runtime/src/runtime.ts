import type { Actor, Address, ClusterEvent, MessageKind, ReplyOf, RequestOf, RequestOptions } from '@shardlab/actor'
import type { DiskFolder } from './disks/files/disk-folder.js'
import type { TlsSettings } from './gateway/tls/tls-settings.js'
import type { NewHostFault } from './host/faults/host-fault.js'
import type { ReachedStep, StepFaultAction } from './host/faults/step-faults.js'
import type { Alarm } from './host/time/clock.js'
import type { MemoryUsage } from './memory-usage.js'

export interface Listen {
  readonly host: string
  readonly port: number
  /** By which clients know the member. Default: `host`. */
  readonly announcedHost?: string
  /** Further addresses with the same port. Default: none. */
  readonly furtherHosts?: readonly string[]
  /** Default: without TLS. */
  readonly tls?: TlsSettings
  readonly limits?: PortLimits
}

/** Of the clients of one member. Reaching a limit is a `limit` event with its name. */
export interface PortLimits {
  /** Further connections are closed at once. Default {@link clientConnectionsMax}. */
  readonly maxIncomingConnections?: number
  /**
   * Bytes of the requests that arrive or run, without those of at most 1 KB. A request that would
   * exceed it fails with 365 TemporarilyUnavailable. Default: no limit.
   */
  readonly requestBytesMax?: number
}

/** Plain data, because it may be posted to a worker. */
export interface MemberSpec {
  readonly address: Address
  /**
   * The name of its replica set, by which `ActorContext.resolve` finds all members of the set.
   * Default: the address, as the only member.
   */
  readonly set?: string
  /** A name among the runtime's roles. */
  readonly role: string
  /** For the role's factory; must survive a structured clone. */
  readonly options: unknown
  /** Where clients connect. Port 0: any free one; null: clients cannot reach the member. */
  readonly listen: Listen | null
  /** 0: no disk, every append fails with DiskFullError. */
  readonly diskLimitBytes: number
  /** `host:port` of an earlier process, by which documents name the member. */
  readonly formerEndpoint?: string
}

export type MemberState = 'starting' | 'running' | 'stopped' | 'crashed'

export interface MemberInfo {
  readonly address: Address
  /** The name of its replica set; its address, if it is the only member or in none. */
  readonly set: Address
  readonly role: string
  readonly state: MemberState
  /**
   * `host:port`. Only a name for a member that clients cannot reach, and in the simulated runtime.
   */
  readonly endpoint: string
  /** The caller's own thread is 0. */
  readonly threadId: number
  /** The host that runs the member; absent: this process does. */
  readonly machine?: string
}

/** Faults at the named steps that actors pass with `reach`. */
export interface StepControls {
  /**
   * Resolves with the fault's id once every host has applied it. `hold` blocks members at the step
   * until the fault is healed, `fail` makes `reach` throw a StepFailedError, `crash` crashes the
   * member without warning, `note` only counts.
   */
  arm(step: string, action: StepFaultAction, options?: StepFaultOptions): Promise<number>
  /** Resumes the members that the fault holds. No error for an unknown id. */
  heal(id: number): Promise<void>
  /**
   * Resolves with the first member that the fault struck, at once when it has struck already.
   * Rejects for an unknown id.
   */
  struck(id: number): Promise<Address>
  /** 0 for an unknown id. */
  strikes(id: number): number
}

export interface StepFaultOptions {
  /** Default: every member. */
  readonly addresses?: readonly Address[]
  /**
   * The limit of strikes on all members together; held members stay held. Default: until healed.
   */
  readonly times?: number
  /** Called for each strike; in a simulation synchronously. */
  readonly onStruck?: (reached: ReachedStep) => void
}

export interface FaultControls {
  /** Resolves with the fault's id once every host has applied it. */
  apply(fault: NewHostFault): Promise<number>
  /** No error for an unknown id. */
  heal(id: number): Promise<void>
  /** 0 for a fault of a member. */
  strikes(id: number): number
}

export interface RuntimeHooks {
  /** Holds the disks in files. Default: disks are in memory. */
  readonly disks?: DiskFolder
  /** Answers requests to the address `cluster`. Default: they fail as unreachable. */
  readonly outside?: Actor
}

/** The same actors behave the same in every world. */
export interface Runtime {
  readonly kind: 'threads' | 'inline' | 'simulated' | 'nats'
  readonly steps: StepControls
  readonly faults: FaultControls
  /**
   * Starts concurrently and resolves when all members have started and listen. Rejects with the
   * first error; the other members keep running.
   */
  start(members: readonly MemberSpec[]): Promise<MemberInfo[]>
  /** Sends from the address `cluster`. @throws RequestFailedError like `ActorContext.request` */
  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>>
  /** Ends the member without warning and keeps its disk. No error when it is down already. */
  crash(address: Address): Promise<void>
  /** Shuts the member down in order and keeps its disk. No error when it is down already. */
  halt(address: Address): Promise<void>
  /** Gives a member that is down an empty disk. Rejects when it is up. */
  replaceDisk(address: Address): Promise<void>
  /** Forgets a member that is down, with its disk and its names. Rejects when it is up. */
  remove(address: Address): Promise<void>
  /** Restarts on the same disk and port. Rejects unless the member is crashed or stopped. */
  restart(address: Address): Promise<MemberInfo>
  /** The result of `Actor.describe`; rejects when the member is not running. */
  describe(address: Address): Promise<Record<string, unknown>>
  memory(): Promise<MemoryUsage>
  /**
   * For work next to a call that the caller awaits. Differs in a simulation only, where these
   * methods do not advance the virtual time.
   */
  readonly background: Pick<Runtime, 'start' | 'request' | 'halt' | 'restart'>
  /** Waits for background work; a simulation advances its time meanwhile. */
  during<T>(work: Promise<T>): Promise<T>
  /** Wakes once, on the world's clock. The alarm does not keep the process alive. */
  alarm(delayMs: number, wake: () => void): Alarm
  /** Milliseconds since the epoch on the world's clock. */
  now(): number
  emit(event: ClusterEvent): void
  /** As `ActorContext.resolve`. */
  resolve(name: Address): readonly Address[]
  /**
   * Makes a member or a replica set reachable under a further name; resolves once every host knows
   * it. A name of another one moves. Rejects when the name is the address of a member, or the name
   * of a set.
   */
  name(address: Address, name: Address): Promise<void>
  /** In the order of their start. */
  members(): MemberInfo[]
  member(address: Address): MemberInfo | undefined
  /** @returns a function that removes the listener */
  onEvent(listener: (event: ClusterEvent) => void): () => void
  /** Members drop other types (`ActorContext.wants`). Default: all but `routed`. */
  watch(types: readonly ClusterEvent['type'][]): void
  /** Shuts all members down in order. The runtime cannot be used afterwards. */
  stop(): Promise<void>
}
