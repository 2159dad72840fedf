import type { Packet, PacketWriter, Random } from '@shardlab/actor'
import type { Carrier, Peer } from '../host/peer.js'
import type { PostOffice } from '../host/post-office.js'
import { Due, type VirtualClock } from '../host/virtual-clock.js'
import type { LatencyRange } from './latency.js'
import type { NetworkNode } from './network.js'
import type { TraceHash } from './trace-hash.js'

/** A packet on its way. */
class Arrival extends Due {
  readonly #connection: Connection
  readonly #packet: Packet

  constructor(connection: Connection, packet: Packet) {
    super()
    this.#connection = connection
    this.#packet = packet
  }

  ring(): void {
    this.#connection.deliver(this.#packet)
  }
}

/** One direction between two nodes. A large cluster has hundreds of thousands: each keeps little, and has all at hand that a packet needs. */
export class Connection implements Carrier {
  /** Where the sender writes. */
  readonly peer: Peer
  /** What arrives comes from this one: the receiver's way back. Null until there is one. */
  #back: Peer | null = null
  readonly #inbox: PostOffice
  readonly #fromIndex: number
  readonly #toIndex: number
  readonly #clock: VirtualClock
  readonly #trace: TraceHash
  /** The shortest delay, and how many there are. Whoever gave the range may use the object again. */
  readonly #minMicros: number
  readonly #delays: number
  readonly #random: Random
  #lastArrivalMicros = 0
  #sends = true
  #arrives = true

  constructor(from: NetworkNode, to: NetworkNode, clock: VirtualClock, trace: TraceHash, latency: LatencyRange, random: Random) {
    this.#inbox = to.host.post
    this.#fromIndex = from.index
    this.#toIndex = to.index
    this.#clock = clock
    this.#trace = trace
    this.#minMicros = latency.minMicros
    this.#delays = latency.maxMicros - latency.minMicros + 1
    this.#random = random
    this.peer = from.host.post.createPeer(to.host.hostId, this)
  }

  /** Introduces the other direction, which comes and goes with this one. */
  pair(back: Connection): void {
    this.#back = back.peer
  }

  /** Nothing that is sent from now on leaves. */
  mute(): void {
    this.#sends = false
  }

  /** Nothing arrives any more, not even what is on its way. */
  lose(): void {
    this.#arrives = false
  }

  post(writer: PacketWriter): void {
    const packet = writer.takeInPlace()
    if (this.#sends) this.carry(new Arrival(this, packet))
  }

  /** Makes something happen at the other end after the link's delay, not before what was carried earlier. */
  carry(due: Due): void {
    // Each link has a generator of its own: where there is nothing to draw, it stays out of the way.
    const arrivalMicros = this.#clock.nowMicros + this.#minMicros + (this.#delays === 1 ? 0 : this.#random.below(this.#delays))
    this.#lastArrivalMicros = Math.max(this.#lastArrivalMicros, arrivalMicros)
    this.#clock.at(this.#lastArrivalMicros, due)
  }

  deliver(packet: Packet): void {
    if (!this.#arrives || this.#back === null) return
    this.#trace.addInteger(this.#clock.nowMicros)
    this.#trace.addInteger(this.#fromIndex)
    this.#trace.addInteger(this.#toIndex)
    this.#trace.addPacket(packet)
    this.#inbox.receiveInPlace(this.#back, packet)
  }
}
