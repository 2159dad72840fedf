import type { Packet, Random } from '@shardlab/actor'
import type { Link } from '../host/mailbox/link-table.js'
import type { Mailbox } from '../host/mailbox/mailbox.js'
import { Peer } from '../host/mailbox/peer.js'
import { TimedEvent, type VirtualClock } from '../host/time/virtual-clock.js'
import type { LatencyRange } from './latency.js'
import type { TraceHash } from './trace-hash.js'

export interface LinkEndpoint {
  readonly index: number
  readonly host: { readonly mailbox: Mailbox }
}

class Arrival extends TimedEvent {
  readonly #link: NetworkLink
  readonly #packet: Packet

  constructor(link: NetworkLink, packet: Packet) {
    super()
    this.#link = link
    this.#packet = packet
  }

  fire(): void {
    this.#link.deliver(this.#packet)
  }
}

/**
 * One direction between two nodes: link, peer and packet writer in one. A large cluster has
 * hundreds of thousands of them, so each holds little, and everything that a packet needs.
 */
export class NetworkLink extends Peer implements Link {
  readonly index: number
  readonly #fromIndex: number
  readonly #clock: VirtualClock
  readonly #trace: TraceHash
  readonly #inbox: Mailbox
  /** The receiver answers by it; null until {@link pair}. */
  #reverse: NetworkLink | null = null
  /**
   * The shortest delay and the number of delays. Copied, because the range object may be reused.
   */
  readonly #minMicros: number
  readonly #delays: number
  /** null: the delay is constant. */
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

  /** Both directions are made and removed together. */
  pair(reverse: NetworkLink): void {
    this.#reverse = reverse
  }

  stopSending(): void {
    this.#sends = false
  }

  /** Also drops packets under way. */
  stopDelivering(): void {
    this.#arrives = false
  }

  protected transmit(): void {
    const packet = this.takeInPlace()
    if (this.#sends) this.schedule(new Arrival(this, packet))
  }

  /** Fires at the other end, after the link's delay and not before earlier events. */
  schedule(event: TimedEvent): void {
    const { nowMicros } = this.#clock
    if (this.#random === null) return this.#clock.at(nowMicros + this.#minMicros, event)
    this.#lastArrivalMicros = Math.max(
      this.#lastArrivalMicros,
      nowMicros + this.#minMicros + this.#random.below(this.#delays),
    )
    this.#clock.at(this.#lastArrivalMicros, event)
  }

  deliver(packet: Packet): void {
    if (!this.#arrives || this.#reverse === null) return
    this.#trace.addInteger(this.#clock.nowMicros)
    this.#trace.addInteger(this.#fromIndex)
    this.#trace.addInteger(this.index)
    this.#trace.addPacket(packet)
    this.#inbox.receiveInPlace(this.#reverse, packet)
  }
}
