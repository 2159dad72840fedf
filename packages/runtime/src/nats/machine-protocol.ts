import type { Address } from '@shardlab/actor'
import type { DiskOwner } from '../disks/files/disk-folder.js'
import type { LinkFault, MemberFault } from '../host/faults/host-fault.js'
import type { StepFault } from '../host/faults/step-faults.js'
import type { HostBoot, HostCommands } from '../remote/host-commands.js'

/** To a machine, before it belongs to a cluster. */
export type MachineQuestion = { readonly type: 'facts' } | JoinQuestion

export interface JoinQuestion {
  readonly type: 'join'
  /** Another process of that name does not answer. */
  readonly processId: string
  readonly version: string
  readonly cluster: string
  /** New for each time that the machine joins. */
  readonly hostId: number
}

export interface MachineFacts {
  /** New for each process. */
  readonly processId: string
  readonly version: string
  /** Where its members listen. */
  readonly host: string
}

export interface MachineNotice {
  readonly name: string
  readonly processId: string
  readonly state: 'started' | 'ended'
}

/** `refused`: why, as the end of a sentence about the machine. */
export type MachineReply = MachineFacts | { readonly refused: string }

/** A member that the machine runs. */
export interface HostedState {
  readonly index: number
  readonly incarnation: number
  readonly isRunning: boolean
  readonly endpoint: string
}

/** Each machine counts its own strikes: no memory is shared. */
type Counted<Fault> = Omit<Fault, 'strikes'> & {
  /** On all machines until now. Default 0. */
  readonly struck?: number
}
export type SentStepFault = Counted<StepFault>
export type SentFault = Counted<LinkFault> | MemberFault

export interface MachineBoot extends Omit<HostBoot<DiskOwner>, 'steps' | 'faults'> {
  readonly steps: readonly SentStepFault[]
  readonly faults: readonly SentFault[]
  /** Their numbers, with that of the supervisor. */
  readonly hosts: readonly number[]
}

export type FaultScope = 'step' | 'link'

/** Of links, on one machine since its process began. */
export type StrikeCounts = readonly (readonly [faultId: number, strikes: number])[]

export interface MachineCommands extends Omit<HostCommands<DiskOwner>, 'arm' | 'applyFault' | 'ping'> {
  /**
   * Also after the connection was lost: members of the same process continue.
   * @returns the members that it runs
   */
  join(boot: MachineBoot): readonly HostedState[]
  /** A host with that number joins. */
  openHost(hostId: number): void
  /** That number is not used any more. */
  closeHost(hostId: number): void
  /** The cluster has stopped. */
  leave(): void
  /** @returns strikes of the faults of links */
  ping(): StrikeCounts
  arm(fault: SentStepFault): void
  /** A fault has struck that often on other machines. */
  noteStrikes(scope: FaultScope, faultId: number, strikes: number): void
  applyFault(fault: SentFault): void
  /** Gives a member that is down an empty disk. */
  replaceDisk(index: number, owner: DiskOwner): void
  dropDisk(index: number, address: Address): void
}
