import type { Random } from '@shardlab/actor'
import type { ActorHost } from '../host/actor-host.js'
import type { Peer } from '../host/peer.js'
import { latencyDraws, type LatencyOption } from './latency.js'
import type { TraceHash } from './trace-hash.js'
import type { VirtualClock } from '../host/virtual-clock.js'

/** One direction between two nodes. */
interface Connection {
  readonly peer: Peer
  /** Makes something happen at the other end after the link's delay, not before what was carried earlier. */
  readonly carry: (happen: () => void) => void
}

/** One incarnation of one member, as a machine on the simulated network. */
export interface NetworkNode {
  readonly address: string
  /** The member's number. */
  readonly index: number
  readonly host: ActorHost
  /** To the nodes that it has talked with. */
  readonly connections: Map<NetworkNode, Connection>
  crashed: boolean
  /** Crashed with all that it had sent and that has not arrived. */
  silenced: boolean
}

/** Carries packets with seeded delays. Between two nodes nothing overtakes, as on one TCP connection. */
export class Network {
  readonly #clock: VirtualClock
  readonly #trace: TraceHash
  readonly #random: Random
  readonly #latency: LatencyOption
  /** The incarnation that is up, by the member's number. */
  readonly #nodes: (NetworkNode | undefined)[] = []

  constructor(clock: VirtualClock, trace: TraceHash, random: Random, latency: LatencyOption) {
    this.#clock = clock
    this.#trace = trace
    this.#random = random
    this.#latency = latency
  }

  /** The node is up. Whoever still holds a connection to an earlier incarnation learns now that it is gone. */
  join(node: NetworkNode): void {
    for (const other of this.nodes()) {
      for (const [former, { peer }] of other.connections)
        if (former.index === node.index && former.crashed) this.#disconnect(other, former, peer)
    }
    this.#nodes[node.index] = node
  }

  /** The nodes that are up, in the order of their numbers. */
  nodes(): NetworkNode[] {
    return this.#nodes.filter((node) => node !== undefined)
  }

  node(index: number): NetworkNode | undefined {
    return this.#nodes[index]
  }

  /** The way from a node to a member; undefined when the member is down. */
  peerTo(from: NetworkNode, index: number): Peer | undefined {
    const to = this.#nodes[index]
    return to === undefined ? undefined : this.#connect(from, to).peer
  }

  /**
   * The node is gone. Whoever it was connected with learns it as late as a packet would arrive; what was on its way to it is lost.
   * What it had sent still arrives when only the process died, and is lost when the machine did: one of two, by the seed.
   */
  leave(node: NetworkNode): void {
    node.crashed = true
    node.silenced = this.#random.fork(`crash of ${node.host.hostId}`).chance(1, 2)
    this.#nodes[node.index] = undefined
    for (const [other, { carry }] of node.connections) {
      if (other === node) continue
      carry(() => {
        const back = other.connections.get(node)
        if (back !== undefined) this.#disconnect(other, node, back.peer)
      })
    }
  }

  /** The connection between two nodes breaks: what is on its way is lost, and both ends know. They connect anew for what they send next. */
  sever(one: NetworkNode, other: NetworkNode): void {
    const ends = [
      [one, other],
      [other, one],
    ] as const
    for (const [from, to] of ends) {
      const connection = from.connections.get(to)
      if (connection !== undefined) this.#disconnect(from, to, connection.peer)
    }
  }

  #disconnect(from: NetworkNode, to: NetworkNode, peer: Peer): void {
    from.connections.delete(to)
    from.host.post.closePeer(peer)
  }

  #connect(from: NetworkNode, to: NetworkNode): Connection {
    const known = from.connections.get(to)
    if (known !== undefined) return known
    const carry = this.#link(from, to)
    const peer: Peer = from.host.post.createPeer(to.host.hostId, (packet) => {
      if (from.crashed) return
      carry(() => {
        if (!peer.closed) this.#deliver(from, to, packet)
      })
    })
    const connection = { peer, carry }
    from.connections.set(to, connection)
    from.host.post.route(to.index, peer)
    // Both directions at once: whoever was only listened to must learn of a crash as well.
    this.#connect(to, from)
    return connection
  }

  #link(from: NetworkNode, to: NetworkNode): Connection['carry'] {
    const random = this.#random.fork(`${from.address}>${to.address}`).fork(`${from.host.hostId}>${to.host.hostId}`)
    const draw = latencyDraws(this.#latency, from.address, to.address, random)
    let lastArrivalMicros = 0
    return (happen) => {
      lastArrivalMicros = Math.max(lastArrivalMicros, this.#clock.nowMicros + draw())
      this.#clock.at(lastArrivalMicros, happen)
    }
  }

  #deliver(from: NetworkNode, to: NetworkNode, packet: Uint8Array): void {
    const back = to.connections.get(from)
    if (to.crashed || from.silenced || back === undefined) return
    this.#trace.addInteger(this.#clock.nowMicros)
    this.#trace.addInteger(from.index)
    this.#trace.addInteger(to.index)
    this.#trace.addBytes(packet)
    to.host.post.receive(back.peer, packet)
  }
}
