import type { Address, AddressDirectory, MutationName, Random } from '@shardlab/actor'
import type { ReachedStep } from './faults/step-faults.js'
import type { ActorCell } from './actor-cell.js'
import type { GatewayOpener } from './clients/gateway-opener.js'
import type { EventSink } from './event-sink.js'
import type { HostLimits } from './limits.js'
import type { Link } from './mailbox/link-table.js'
import type { HostClock, Sleeper } from './time/clock.js'

export interface ActorHostOptions {
  readonly hostId: number
  /** Shared with the world, which adds the members. */
  readonly directory: AddressDirectory
  readonly clock: HostClock
  /** The root of the cluster's generators. */
  readonly random: Random
  readonly events: EventSink
  readonly limits: HostLimits
  /** See `PacketWriterOptions.checked`. */
  readonly checked: boolean
  /** See `PacketWriterOptions.pooled`. */
  readonly pooled?: boolean
  readonly mutations?: readonly MutationName[]
  /** Only where all members are in one thread. */
  readonly attaches?: boolean
  /** See `OutboxOptions.atEndOfTurn`. */
  readonly atEndOfTurn: (flush: () => void) => void
  /** Wakes the sleeper in a later turn, after messages that have arrived meanwhile. */
  readonly nextTurn: (sleeper: Sleeper) => void
  /** Those of the process. Default: none. */
  readonly pageFaults?: () => number
  /** Of the operating system. Default: seeded by {@link random}. */
  readonly secretBytes?: (length: number) => Uint8Array
  /** See `MailboxOptions.findLink`. */
  readonly findLink?: (index: number) => Link | undefined
  /** null: clients cannot connect, though members may have endpoints. */
  readonly openGateway: GatewayOpener | null
  /** `error` null: a fault crashed the member. */
  readonly onCrash: (cell: ActorCell, error: Error | null) => void
  readonly onStepStruck: (faultId: number, reached: ReachedStep) => void
  /** A command of a client arrives. */
  readonly onClientCommand?: (memberIndex: number, connectionId: number) => void
  /**
   * The answer to a client's command is a promise. `isGone`: the member is gone, so no answer will
   * come.
   */
  readonly onClientWaiting?: (answer: Promise<unknown>, isGone: () => boolean) => void
  /** Called before the actor is woken. */
  readonly onWake?: (address: Address, timer: string) => void
}
