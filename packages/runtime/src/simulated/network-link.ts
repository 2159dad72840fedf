import type { Packet, Random } from '@shardlab/actor'
import { Peer } from '../host/mailbox/peer.js'
import type { Mailbox } from '../host/mailbox/mailbox.js'
import type { Link } from '../host/mailbox/link-table.js'
import { TimedEvent, type VirtualClock } from '../host/time/virtual-clock.js'
import type { LatencyRange } from './latency.js'
import type { TraceHash } from './trace-hash.js'

/** A host on the simulated network, as a connection sees it. */
export interface LinkEndpoint {
  /** The number of its member. */
  readonly index: number
  readonly host: { readonly mailbox: Mailbox }
}

/** A packet on its way. */
class Arrival extends TimedEvent {
  readonly #connection: NetworkLink
  readonly #packet: Packet

  constructor(connection: NetworkLink, packet: Packet) {
    super()
    this.#connection = connection
    this.#packet = packet
  }

  fire(): void {
    this.#connection.deliver(this.#packet)
  }
}

/** One direction between two nodes. A large cluster has hundreds of thousands: each keeps little, and has all at hand that a packet needs. */
export class NetworkLink extends Peer implements Link {
  /** The number of the member that it leads to. */
  readonly index: number
  readonly #fromIndex: number
  readonly #clock: VirtualClock
  readonly #trace: TraceHash
  readonly #inbox: Mailbox
  /** What arrives comes from this one: the receiver's way back. Null until there is one. */
  #back: NetworkLink | null = null
  /** The shortest delay, and how many there are. Whoever gave the range may use the object again. */
  readonly #minMicros: number
  readonly #delays: number
  /** Draws the delay, for this link alone; null: it is always the same. */
  readonly #random: Random | null
  #lastArrivalMicros = 0
  #sends = true
  #arrives = true

  constructor(
    from: LinkEndpoint,
    to: LinkEndpoint,
    clock: VirtualClock,
    trace: TraceHash,
    latency: LatencyRange,
    random: () => Random,
  ) {
    super(from.host.mailbox.packing)
    this.index = to.index
    this.#fromIndex = from.index
    this.#clock = clock
    this.#trace = trace
    this.#inbox = to.host.mailbox
    this.#minMicros = latency.minMicros
    this.#delays = latency.maxMicros - latency.minMicros + 1
    this.#random = this.#delays === 1 ? null : random()
  }

  get peer(): Peer {
    return this
  }

  /** Introduces the other direction, which comes and goes with this one. */
  pair(back: NetworkLink): void {
    this.#back = back
  }

  /** Nothing that is sent from now on leaves. */
  mute(): void {
    this.#sends = false
  }

  /** Nothing arrives any more, not even what is on its way. */
  lose(): void {
    this.#arrives = false
  }

  protected transmit(): void {
    const packet = this.takeInPlace()
    if (this.#sends) this.carry(new Arrival(this, packet))
  }

  /** Makes something happen at the other end after the link's delay, not before what was carried earlier. */
  carry(due: TimedEvent): void {
    const { nowMicros } = this.#clock
    if (this.#random === null) return this.#clock.at(nowMicros + this.#minMicros, due)
    this.#lastArrivalMicros = Math.max(
      this.#lastArrivalMicros,
      nowMicros + this.#minMicros + this.#random.below(this.#delays),
    )
    this.#clock.at(this.#lastArrivalMicros, due)
  }

  deliver(packet: Packet): void {
    if (!this.#arrives || this.#back === null) return
    this.#trace.addInteger(this.#clock.nowMicros)
    this.#trace.addInteger(this.#fromIndex)
    this.#trace.addInteger(this.index)
    this.#trace.addPacket(packet)
    this.#inbox.receiveInPlace(this.#back, packet)
  }
}
