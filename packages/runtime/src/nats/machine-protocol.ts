import type { Address } from '@shardlab/actor'
import type { DiskOwner } from '../disks/files/disk-folder.js'
import type { LinkFault, MemberFault } from '../host/faults/host-fault.js'
import type { StepFault } from '../host/faults/step-faults.js'
import type { HostBoot, HostCommands } from '../remote/host-commands.js'

/** Asks a machine, before it belongs to a cluster. */
export type MachineQuestion =
  | { readonly type: 'who' }
  | {
      readonly type: 'join'
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

export interface StartedMachine {
  readonly name: string
  readonly processId: string
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

/** Strikes are counted by each machine: no memory is shared. */
type Uncounted<Fault> = Omit<Fault, 'strikes'>
export type SentStepFault = Uncounted<StepFault>
export type SentFault = Uncounted<LinkFault> | MemberFault

export interface MachineBoot extends Omit<HostBoot<DiskOwner>, 'steps' | 'faults'> {
  readonly steps: readonly SentStepFault[]
  readonly faults: readonly SentFault[]
}

export type StrikeCounts = readonly (readonly [faultId: number, strikes: number])[]

export interface MachineCommands extends Omit<HostCommands<DiskOwner>, 'arm' | 'applyFault' | 'ping'> {
  /**
   * Also after the connection was lost: members of the same process continue.
   * @returns the members that it runs
   */
  join(boot: MachineBoot): readonly HostedState[]
  /** That number is not used any more. */
  closeHost(hostId: number): void
  /** The cluster has stopped. */
  leave(): void
  /** @returns strikes of the faults of links */
  ping(): StrikeCounts
  arm(fault: SentStepFault): void
  /** A fault has struck that often on all machines. */
  noteStrikes(faultId: number, strikes: number): void
  applyFault(fault: SentFault): void
  /** Gives a member that is down an empty disk. */
  replaceDisk(index: number, owner: DiskOwner): void
  dropDisk(index: number, address: Address): void
}
