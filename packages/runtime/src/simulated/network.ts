import type { Random } from '@shardlab/actor'
import type { ActorHost } from '../host/actor-host.js'
import { NetworkLink, type LinkEndpoint } from './network-link.js'
import { latencyRange, type LatencyOption } from './latency.js'
import type { TraceHash } from './trace-hash.js'
import { TimedEvent, type VirtualClock } from '../host/time/virtual-clock.js'

/** One incarnation of one member, as a machine on the simulated network. */
export interface NetworkNode extends LinkEndpoint {
  readonly address: string
  readonly host: ActorHost
  /** To the nodes that it has talked with. */
  readonly links: Map<NetworkNode, NetworkLink>
  crashed: boolean
}

/** An end of a connection learns that the other one is gone. */
class Disconnection extends TimedEvent {
  readonly #learn: () => void

  constructor(learn: () => void) {
    super()
    this.#learn = learn
  }

  fire(): void {
    this.#learn()
  }
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
      for (const former of other.links.keys())
        if (former.index === node.index && former.crashed) this.#disconnect(other, former)
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
  linkTo(from: NetworkNode, index: number): NetworkLink | undefined {
    const to = this.#nodes[index]
    return to === undefined ? undefined : this.#connect(from, to)
  }

  /**
   * The node is gone. Whoever it was connected with learns it as late as a packet would arrive; what was on its way to it is lost.
   * What it had sent still arrives when only the process died, and is lost when the machine did: one of two, by the seed.
   */
  leave(node: NetworkNode): void {
    node.crashed = true
    const isSilenced = this.#random.fork(`crash of ${node.host.hostId}`).chance(1, 2)
    this.#nodes[node.index] = undefined
    for (const [other, connection] of node.links) {
      connection.mute()
      if (isSilenced) connection.lose()
      other.links.get(node)?.lose()
      if (other !== node) connection.carry(new Disconnection(() => this.#disconnect(other, node)))
    }
  }

  /** The connection between two nodes breaks: what is on its way is lost, and both ends know. They connect anew for what they send next. */
  sever(one: NetworkNode, other: NetworkNode): void {
    this.#disconnect(one, other)
    this.#disconnect(other, one)
  }

  /** One end knows that it has no connection; no error when it has none. */
  #disconnect(from: NetworkNode, to: NetworkNode): void {
    const connection = from.links.get(to)
    if (connection === undefined) return
    connection.lose()
    to.links.get(from)?.lose()
    from.links.delete(to)
    from.host.mailbox.closePeer(connection)
  }

  #connect(from: NetworkNode, to: NetworkNode): NetworkLink {
    const known = from.links.get(to)
    if (known !== undefined) return known
    const range = latencyRange(this.#latency, from.address, to.address)
    const connection = new NetworkLink(from, to, this.#clock, this.#trace, range, () => this.#randomOf(from, to))
    from.links.set(to, connection)
    from.host.mailbox.route(connection)
    // Both directions at once: whoever was only listened to must learn of a crash as well.
    connection.pair(this.#connect(to, from))
    return connection
  }

  #randomOf(from: NetworkNode, to: NetworkNode): Random {
    return this.#random.fork(`${from.address}>${to.address}`).fork(`${from.host.hostId}>${to.host.hostId}`)
  }
}
