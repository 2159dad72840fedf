import {
  clusterAddress,
  kindShapeAt,
  packetTypes,
  readPacket,
  readPacketInPlace,
  RequestFailedError,
  type Address,
  type AddressDirectory,
  type FailurePayload,
  type MessageKind,
  type MessageTuple,
  type Packet,
  type PacketWriterOptions,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import type { ActorCell, Asked } from './actor-cell.js'
import type { HostClock } from './clock.js'
import type { HostLimits } from './limits.js'
import type { LinkFaults } from './faults/link-faults.js'
import { linkEnd, linkName } from './faults/link-ends.js'
import { sizeOfMessage } from './faults/size-of-message.js'
import { CarriedPeer, type Peer } from './peer.js'
import { mostPendingRequests, PendingRequest, PendingRequests } from './pending-requests.js'
import { Routes, type Way } from './routes.js'

export interface PostOfficeOptions {
  readonly directory: AddressDirectory
  readonly clock: HostClock
  readonly limits: HostLimits
  readonly links: LinkFaults
  /** Pack strictly: see `PacketWriterOptions.checked`. */
  readonly checked: boolean
  /** See `PacketWriterOptions.pooled`. */
  readonly pooled?: boolean
  /** Called when the first message of a turn is written: `flush` must run when the turn is over. */
  readonly atEndOfTurn: (flush: () => void) => void
  /** The way to a member that has none yet; undefined: it is down. Default: members are down until they are routed. */
  readonly findWay?: (index: number) => Way | undefined
  readonly onLimit: (member: Address | null, limit: keyof HostLimits, value: number) => void
  readonly receiver: Receiver
}

export interface Receiver {
  /** A request or notice for a member of this host. */
  accept(peer: Peer, message: MessageTuple): void
}

/** One host's mail: the ways to other hosts, what leaves in one turn, and the requests that wait for an answer. */
export class PostOffice {
  readonly #directory: AddressDirectory
  readonly #links: LinkFaults
  // Here, not in the object that they came in: a large cluster has an office for each member, and what no message has looked at lately is far away.
  readonly #limits: HostLimits
  readonly #atEndOfTurn: PostOfficeOptions['atEndOfTurn']
  readonly #receiver: Receiver
  readonly #onLimit: PostOfficeOptions['onLimit']
  /** For the writers of its peers. */
  readonly packing: PacketWriterOptions
  readonly #routes: Routes
  readonly #pending = new PendingRequests()
  /** Those to whom something was written in this turn, in that order, each of which knows the next one. */
  #firstDirty: Peer | null = null
  #lastDirty: Peer | null = null
  #flushScheduled = false
  readonly #flushTurn = () => this.flush()
  /** Who has lost the connection: nobody hears what is answered. */
  readonly #nobody = new CarriedPeer({}, () => {})

  constructor(options: PostOfficeOptions) {
    const {
      directory,
      links,
      limits,
      atEndOfTurn,
      receiver,
      onLimit,
      findWay = noWay,
      checked,
      pooled = false,
    } = options
    this.#directory = directory
    this.#links = links
    this.#limits = limits
    this.#atEndOfTurn = atEndOfTurn
    this.#receiver = receiver
    this.#onLimit = onLimit
    this.#routes = new Routes(directory, findWay)
    this.packing = { checked, pooled }
    this.#nobody.closed = true
  }

  /** Something written in this turn has not left yet. */
  get busy(): boolean {
    return this.#flushScheduled
  }

  /** Requests of this host that have no answer. */
  get waiting(): number {
    return this.#pending.size
  }

  /** The other host is gone: nothing more comes from it, and nothing reaches it. */
  closePeer(peer: Peer): void {
    if (peer.closed) return
    peer.closed = true
    this.#routes.deleteThrough(peer)
    this.#pending.failWhere((request) => request.peer === peer, 'went away before it answered')
  }

  /** From now on the member is reached on that way. */
  route(way: Way): void {
    this.#routes.set(way)
  }

  /** The member is down: requests to it fail at once, and those without an answer fail now. */
  unroute(index: number): void {
    this.#routes.delete(index)
    this.#pending.failWhere((request) => request.toIndex === index, 'went down before it answered')
  }

  /** Sends what was written in this turn. */
  flush(): void {
    this.#flushScheduled = false
    let peer = this.#firstDirty
    this.#firstDirty = null
    this.#lastDirty = null
    while (peer !== null) {
      const next: Peer | null = peer.nextDirty
      peer.nextDirty = null
      peer.dirty = false
      peer.flush()
      peer = next
    }
  }

  /** A packet arrived from that peer. */
  receive(peer: Peer, packet: Uint8Array): void {
    this.#open(peer, readPacket(packet))
  }

  /** A packet arrived that has stayed in this thread. */
  receiveInPlace(peer: Peer, packet: Packet): void {
    this.#open(peer, readPacketInPlace(packet))
  }

  #open(peer: Peer, messages: readonly MessageTuple[]): void {
    for (const message of messages) {
      if (this.#links.active) this.#pass(peer, message)
      else this.#take(peer, message)
    }
  }

  /** Rejects with a RequestFailedError, or with an UnpackableValueError for what may not travel. */
  request<K extends MessageKind>(
    cell: ActorCell,
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    const way = this.#routes.to(to)
    if (way === undefined || this.#refuses(cell, to, kind))
      return notSent('unreachable', to, `nothing answers at ${to}`)
    if (options?.signal?.aborted === true) return notSent('cancelled', to, `the request to ${to} was cancelled`)
    if (this.#pending.size >= Math.min(this.#limits.outstandingRequests, mostPendingRequests)) {
      this.#onLimit(cell.address, 'outstandingRequests', this.#pending.size)
      return notSent('unreachable', to, 'too many requests wait for an answer')
    }
    const { peer, index } = way
    const pending = new PendingRequest(this.#pending, cell, peer, to, index)
    try {
      peer.addRequest(pending.id, index, cell.index, kind, request)
      if (options?.timeoutMs !== undefined) pending.failAfter(options.timeoutMs)
      if (options?.signal !== undefined) pending.endWith(options.signal)
      // Last: what leaves early may be answered in here, when both are on the same host.
      this.#touch(peer, cell.address)
    } catch (error) {
      this.#pending.take(pending.id)
      pending.reject(error)
    }
    return pending.promise as Promise<ReplyOf<K>>
  }

  /** Sends without an answer; lost when the member is down. @throws UnpackableValueError */
  notify<K extends MessageKind>(cell: ActorCell, to: Address, kind: K, request: RequestOf<K>): void {
    const way = this.#routes.to(to)
    if (way === undefined || this.#refuses(cell, to, kind)) return
    way.peer.addNotice(way.index, cell.index, kind, request)
    this.#touch(way.peer, cell.address)
  }

  /** @throws UnpackableValueError */
  reply(cell: ActorCell, { peer, id, from, kind }: Asked, reply: unknown): void {
    if (peer.closed) return
    peer.addReply(id, from, cell.index, kind, reply as never)
    this.#touch(peer, cell.address)
  }

  /** Tells whoever asked that there will be no answer. */
  fail({ peer, id, from, kind }: Asked, index: number, undelivered: boolean, why: string): void {
    if (peer.closed) return
    const address = this.#directory.addressOf(index) ?? `#${index}`
    peer.addFailure(id, from, index, kind, ['unreachable', undelivered, `${address} ${why}`])
    this.#touch(peer, null)
  }

  /** The requests of that incarnation will not be answered. */
  forget(cell: ActorCell): void {
    this.#pending.dropOf(cell)
  }

  /** Requests between these members have waited too long. */
  failLinks(connects: (one: Address, other: Address) => boolean, why: string): void {
    this.#pending.failWhere(
      ({ cell, to }) => cell.address !== clusterAddress && connects(linkName(cell.address), to),
      why,
    )
  }

  /** A message arrived, and no fault keeps it. */
  #take(peer: Peer, message: MessageTuple): void {
    const type = message[0]
    if (type === packetTypes.reply) {
      const request = this.#pending.take(message[1])
      request?.resolve(kindShapeAt(message[4]).toReply(message[5]))
    } else if (type === packetTypes.failure) {
      const [reason, undelivered, text] = message[5] as unknown as FailurePayload
      this.#pending.fail(message[1], reason, text, undelivered)
    } else if (type === packetTypes.broken) {
      this.#disconnect(message[2], message[3], String(message[5][0]))
    } else {
      this.#receiver.accept(peer, message)
    }
  }

  /** Lets link faults decide what becomes of a message. What runs the mail itself, and what the API asks for, is not subject to them. */
  #pass(peer: Peer, message: MessageTuple): void {
    const [type, id, to, from, kindIndex, payload] = message
    const isAnswer = type === packetTypes.reply
    const { kind } = kindShapeAt(kindIndex)
    const [sender, receiver] = [this.#linkEnd(from, kind), this.#linkEnd(to, kind)]
    if (
      sender === null ||
      receiver === null ||
      from === to ||
      type === packetTypes.failure ||
      type === packetTypes.broken
    )
      return this.#take(peer, message)
    const lose = (why: string): void => {
      if (isAnswer) this.#pending.fail(id, 'unreachable', `${sender} ${why}`)
      else if (type === packetTypes.request) this.fail({ peer, id, from, kind }, to, false, why)
    }
    this.#links.pass(sender, receiver, kind, isAnswer, {
      get sizeBytes() {
        return sizeOfMessage(payload)
      },
      deliver: () => this.#take(peer, message),
      deliverTwice: () => {
        this.#take(this.#nobody, message)
        this.#take(peer, message)
      },
      lose,
      cut: lose,
      break: (why) => {
        this.#disconnect(to, from, why)
        if (peer.closed) return
        peer.addBroken(from, to, why)
        this.#touch(peer, null)
      },
    })
  }

  /** No request of the first to the second member will be answered, and nothing on its way from there arrives. */
  #disconnect(index: number, otherIndex: number, why: string): void {
    const [here, there] = [this.#directory.addressOf(index) ?? '', this.#directory.addressOf(otherIndex) ?? '']
    this.#links.drain(there, here, why)
    this.#pending.failWhere((request) => request.cell.index === index && request.toIndex === otherIndex, why)
  }

  #refuses(cell: ActorCell, to: Address, kind: MessageKind): boolean {
    if (!this.#links.active) return false
    const from = this.#linkEnd(cell.index, kind)
    return from !== null && from !== to && this.#links.refuses(from, to, kind)
  }

  /** Who a member is to link faults; null: the API itself. */
  #linkEnd(index: number, kind: MessageKind): Address | null {
    const address = this.#directory.addressOf(index)
    return address === undefined ? null : linkEnd(address, kind)
  }

  #touch(peer: Peer, sender: Address | null): void {
    if (peer.sizeBytes >= this.#limits.packetBytes) {
      this.#onLimit(sender, 'packetBytes', peer.sizeBytes)
      peer.flush()
    }
    if (peer.dirty) return
    peer.dirty = true
    if (this.#lastDirty === null) this.#firstDirty = peer
    else this.#lastDirty.nextDirty = peer
    this.#lastDirty = peer
    if (this.#flushScheduled) return
    this.#flushScheduled = true
    this.#atEndOfTurn(this.#flushTurn)
  }
}

function noWay(): undefined {}

function notSent(reason: 'unreachable' | 'cancelled', to: Address, message: string): Promise<never> {
  return Promise.reject(new RequestFailedError(reason, to, message, true))
}
