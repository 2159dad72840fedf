import type { Address, AddressDirectory, MutationName, Random } from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import type { HostClock } from './time/clock.js'
import type { EventSink } from './event-sink.js'
import type { GatewayOpener } from './clients/gateway-opener.js'
import type { HostLimits } from './limits.js'
import type { Link } from './mailbox/link-table.js'

/** What a host gets from the world that it is in. */
export interface ActorHostOptions {
  readonly hostId: number
  /** Shared with the world, which fills it. */
  readonly directory: AddressDirectory
  readonly clock: HostClock
  /** The root of the cluster's generators. */
  readonly random: Random
  readonly events: EventSink
  readonly limits: HostLimits
  /** Pack strictly: see `PacketWriterOptions.checked`. */
  readonly checked: boolean
  /** See `PacketWriterOptions.pooled`. Default false. */
  readonly pooled?: boolean
  /** Defects that are built into the members of this host. Default: none. */
  readonly mutations?: readonly MutationName[]
  /** See `ActorContext.shared`. */
  readonly shared?: Map<string, unknown>
  /** Called when the first message of a turn is written: `flush` must run when the turn is over. */
  readonly atEndOfTurn: (flush: () => void) => void
  /** See {@link PostOfficeOptions.findWay}. */
  readonly findLink?: (index: number) => Link | undefined
  /** null: nobody outside can connect, though members may have endpoints. */
  readonly openGateway: GatewayOpener | null
  /** A member crashed inside this host: by a fault (null) or by an exception of its own. */
  readonly onCrash: (cell: ActorCell, error: Error | null) => void
  readonly onStepStruck: (faultId: number, address: Address) => void
  /** A client's command is not answered at once; `isGone`: it never will be. */
  readonly onClientWaiting?: (answer: Promise<unknown>, isGone: () => boolean) => void
  /** A named timer is about to wake its actor. */
  readonly onWake?: (address: Address, timer: string) => void
}
