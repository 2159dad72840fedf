/**
 * Commands of a supervisor to a host elsewhere: a worker thread or a process. The messages are
 * plain data.
 */
import type { Address, ClusterEvent, LogLevel } from '@shardlab/actor'
import type { NewArea } from '../disks/shared-disk.js'
import type { MemberBoot } from '../host/actor-cell.js'
import type { HostFault } from '../host/faults/host-fault.js'
import type { ReachedStep, StepFault } from '../host/faults/step-faults.js'
import type { HostLimits } from '../host/limits.js'
import type { ThreadMemory } from '../memory-usage.js'
import type { PortableError } from './portable-error.js'

export interface MemberLocation {
  readonly index: number
  readonly address: Address
  /** Null: it is down. */
  readonly hostId: number | null
  /** The name of its replica set; null: the member is the only one. */
  readonly set: string | null
  /** Null: no client can reach it. */
  readonly endpoint: string | null
}

/** `Disk`: what the host needs to open the member's disk. */
export interface HostedMember<Disk> {
  readonly boot: MemberBoot
  readonly disk: Disk
}

/** What a host has to know before it runs members. */
export interface HostBoot<Disk> {
  readonly hostId: number
  readonly seed: number | string
  readonly limits: HostLimits
  readonly logLevel: LogLevel
  readonly watched: readonly ClusterEvent['type'][]
  readonly steps: readonly StepFault[]
  readonly faults: readonly HostFault[]
  readonly locations: readonly MemberLocation[]
  /** Further names, each with the address or the replica set. */
  readonly names: readonly (readonly [name: Address, address: Address])[]
  readonly members: readonly HostedMember<Disk>[]
}

/** Each command gets an answer. Those that return no promise are answered in order. */
export interface HostCommands<Disk> {
  add(member: HostedMember<Disk>): void
  setLocations(locations: readonly MemberLocation[]): void
  name(address: Address, name: Address): void
  /** The member was removed from the cluster. */
  forget(index: number): void
  /** After {@link add}. Resolves with the endpoint. */
  start(index: number): Promise<string>
  kill(index: number): void
  /** The member serves its peers until it is killed. */
  halt(index: number): Promise<void>
  /** The members serve their peers until the host ends. */
  stop(): Promise<void>
  /** After {@link stop} of all hosts: nothing is written any more. */
  closeDisks(): Promise<void>
  ping(): void
  memory(): ThreadMemory
  describe(index: number): Record<string, unknown>
  arm(fault: StepFault): void
  heal(faultId: number): void
  applyFault(fault: HostFault): void
  healFault(faultId: number): void
  watch(types: readonly ClusterEvent['type'][]): void
}

export interface HostCall {
  readonly callId: number
  readonly command: string
  readonly args: readonly unknown[]
}

export type HostAnswer =
  | { readonly type: 'done'; readonly callId: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly callId: number; readonly error: PortableError }

export type HostReport =
  | {
      readonly type: 'crashed'
      readonly index: number
      readonly incarnation: number
      readonly error: PortableError | null
    }
  | { readonly type: 'struck'; readonly faultId: number; readonly reached: ReachedStep }
  | { readonly type: 'area'; readonly area: NewArea }
  | { readonly type: 'events'; readonly events: readonly ClusterEvent[] }
