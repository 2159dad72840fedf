import type { Address } from '@shardlab/actor'
import type { LinkEnd, ReachedStep, Runtime } from '@shardlab/runtime'
import type { FaultSpec } from './fault-data.js'

export interface FaultWorld {
  readonly runtime: Runtime
  /** Members close a link on which nothing has arrived for this time. */
  readonly networkTimeoutMs: number
  /** Starts a member that is down, and informs members that store its address. */
  readonly restart: (member: Address) => Promise<unknown>
  /** Heals the pauses of a member. */
  resume(member: Address): Promise<void>
  /** Other faults of this verb that are at work on a member. */
  readonly atWork: (member: Address, verb: string) => readonly FaultSpec[]
  /** A member has reached the step of the fault that begins. */
  readonly struck: (reached: ReachedStep) => void
  /** Whether another fault keeps a member down. */
  readonly isKeptDown: (member: Address) => boolean
}

export interface RunningFault {
  heal(): Promise<void>
  /** How often it struck; null: strikes are not counted. */
  strikes(): number | null
  /** Members that it crashed and that have not been started since. */
  readonly down?: Set<Address>
}

export interface FaultLink {
  readonly from: LinkEnd
  readonly to: LinkEnd
}
