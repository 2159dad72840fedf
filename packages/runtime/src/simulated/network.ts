import type { Random } from '@shardlab/actor'
import type { ActorHost } from '../host/actor-host.js'
import { TimedEvent, type VirtualClock } from '../host/time/virtual-clock.js'
import { latencyRange, type LatencyOption } from './latency.js'
import { NetworkLink, type LinkEndpoint } from './network-link.js'
import type { TraceHash } from './trace-hash.js'

/** One incarnation of one member, on a machine of its own. */
export interface NetworkNode extends LinkEndpoint {
  readonly address: string
  readonly host: ActorHost
  /** Links to the nodes that it has exchanged messages with. */
  readonly links: Map<NetworkNode, NetworkLink>
  crashed: boolean
}

/** Arrives at one end of a connection when the other end is gone. */
class DisconnectNotice extends TimedEvent {
  readonly #onArrival: () => void

  constructor(onArrival: () => void) {
    super()
    this.#onArrival = onArrival
  }

  fire(): void {
    this.#onArrival()
  }
}

/** Delays are seeded. Between two nodes nothing overtakes, as on one TCP connection. */
export class Network {
  readonly #clock: VirtualClock
  readonly #trace: TraceHash
  readonly #random: Random
  readonly #latency: LatencyOption
  /** Nodes that are up, by the member's number. */
  readonly #nodes: (NetworkNode | undefined)[] = []

  constructor(clock: VirtualClock, trace: TraceHash, random: Random, latency: LatencyOption) {
    this.#clock = clock
    this.#trace = trace
    this.#random = random
    this.#latency = latency
  }

  /** Also closes the connections of others to an earlier incarnation of the member. */
  join(node: NetworkNode): void {
    for (const other of this.nodes()) {
      for (const former of other.links.keys())
        if (former.index === node.index && former.crashed) this.#disconnect(other, former)
    }
    this.#nodes[node.index] = node
  }

  /** Nodes that are up, in the order of their numbers. */
  nodes(): NetworkNode[] {
    return this.#nodes.filter((node) => node !== undefined)
  }

  node(index: number): NetworkNode | undefined {
    return this.#nodes[index]
  }

  /** undefined: the member is down. */
  linkTo(from: NetworkNode, index: number): NetworkLink | undefined {
    const to = this.#nodes[index]
    return to === undefined ? undefined : this.#connect(from, to)
  }

  /**
   * Packets under way to the node are lost. Nodes that it was connected with notice its end after
   * the link's latency. Packets that it has sent still arrive (only the process died) or are lost
   * (the machine did): the seed decides, with equal probability.
   */
  leave(node: NetworkNode): void {
    node.crashed = true
    const isSilenced = this.#random.fork(`crash of ${node.host.hostId}`).chance(1, 2)
    this.#nodes[node.index] = undefined
    for (const [other, link] of node.links) {
      link.stopSending()
      if (isSilenced) link.stopDelivering()
      other.links.get(node)?.stopDelivering()
      if (other !== node) link.schedule(new DisconnectNotice(() => this.#disconnect(other, node)))
    }
  }

  /**
   * Packets under way are lost, and both ends notice. The next message opens another connection.
   */
  sever(one: NetworkNode, other: NetworkNode): void {
    this.#disconnect(one, other)
    this.#disconnect(other, one)
  }

  /** Closes one end. No error when there is no connection. */
  #disconnect(from: NetworkNode, to: NetworkNode): void {
    const link = from.links.get(to)
    if (link === undefined) return
    link.stopDelivering()
    to.links.get(from)?.stopDelivering()
    from.links.delete(to)
    from.host.mailbox.closePeer(link)
  }

  #connect(from: NetworkNode, to: NetworkNode): NetworkLink {
    const known = from.links.get(to)
    if (known !== undefined) return known
    const range = latencyRange(this.#latency, from.address, to.address)
    const link = new NetworkLink(from, to, this.#clock, this.#trace, range, () => this.#randomOf(from, to))
    from.links.set(to, link)
    from.host.mailbox.route(link)
    // Both directions at once: a node that has only sent must notice a crash of the receiver as
    // well.
    link.pair(this.#connect(to, from))
    return link
  }

  #randomOf(from: NetworkNode, to: NetworkNode): Random {
    return this.#random.fork(`${from.address}>${to.address}`).fork(`${from.host.hostId}>${to.host.hostId}`)
  }
}
