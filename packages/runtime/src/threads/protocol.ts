import type { MessagePort } from 'node:worker_threads'
import type { Address, ClusterEvent, LogLevel } from '@shardlab/actor'
import type { SharedDiskBuffers } from '../disks/shared-disk.js'
import type { MemberBoot } from '../host/actor-cell.js'
import type { HostFault } from '../host/faults/host-fault.js'
import type { StepFault } from '../host/faults/step-faults.js'
import type { HostLimits } from '../host/limits.js'
import type { PortableError } from './portable-error.js'

/** A member and where it runs. */
export interface MemberLocation {
  readonly index: number
  readonly address: Address
  /** null: it is down. */
  readonly hostId: number | null
}

/** A member that a host is to run. */
export interface HostedMember {
  readonly boot: MemberBoot
  readonly disk: SharedDiskBuffers
}

/** The data that a worker is started with. */
export interface HostBoot {
  readonly hostId: number
  readonly seed: number | string
  readonly limits: HostLimits
  readonly logLevel: LogLevel
  readonly watched: readonly ClusterEvent['type'][]
  readonly steps: readonly StepFault[]
  readonly faults: readonly HostFault[]
  readonly ports: readonly { readonly hostId: number; readonly port: MessagePort }[]
  readonly locations: readonly MemberLocation[]
  readonly members: readonly HostedMember[]
}

/**
 * The commands of the supervisor to a host. Each gets an answer; commands that return no promise
 * are answered in order.
 */
export interface HostCommands {
  /** Connects a new host, at the other end of that port. */
  addPeer(hostId: number, port: MessagePort): void
  add(member: HostedMember): void
  setLocations(locations: readonly MemberLocation[]): void
  /** Starts a member that {@link add} has added. Resolves with its endpoint. */
  start(index: number): Promise<string>
  /** Ends a member without warning. */
  kill(index: number): void
  /** Shuts one member down in order; it serves its peers until it is killed. */
  halt(index: number): Promise<void>
  /** Shuts all members down in order; they serve their peers until the worker is terminated. */
  stop(): Promise<void>
  describe(index: number): Record<string, unknown>
  arm(fault: StepFault): void
  heal(faultId: number): void
  applyFault(fault: HostFault): void
  healFault(faultId: number): void
  watch(types: readonly ClusterEvent['type'][]): void
}

export type HostCommandName = keyof HostCommands

/** A command as it is posted to a host. */
export interface HostCall {
  readonly callId: number
  readonly command: HostCommandName
  readonly args: readonly unknown[]
}

/** The answer to a call. */
export type HostAnswer =
  | { readonly type: 'done'; readonly callId: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly callId: number; readonly error: PortableError }

/** A host's report to its supervisor. */
export type HostReport =
  | {
      readonly type: 'crashed'
      readonly index: number
      readonly incarnation: number
      readonly error: PortableError | null
    }
  | { readonly type: 'struck'; readonly faultId: number; readonly address: Address }
  | { readonly type: 'events'; readonly events: readonly ClusterEvent[] }
