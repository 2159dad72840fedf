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
  type NotPrimaryError,
  type Packet,
  type PacketWriterOptions,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import type { ActorCell, RequestOrigin } from '../actor-cell.js'
import { linkEnd, linkName } from '../faults/link-ends.js'
import type { LinkFaults } from '../faults/link-faults.js'
import { sizeOfMessage } from '../faults/size-of-message.js'
import { LinkTable, type Link } from './link-table.js'
import { Outbox, type OutboxOptions } from './outbox.js'
import { CallbackPeer, type Peer } from './peer.js'
import { mostPendingRequests, PendingRequest, PendingRequests } from './pending-requests.js'

export interface MailboxOptions extends OutboxOptions {
  readonly directory: AddressDirectory
  readonly linkFaults: LinkFaults
  readonly checked: boolean
  readonly pooled?: boolean
  /**
   * Finds a link that the table does not have; undefined: the member is down. Default: a member is
   * down until {@link Mailbox.route} has been called for it.
   */
  readonly findLink?: (index: number) => Link | undefined
  readonly receiver: Receiver
}

export interface Receiver {
  /** A request or notice for a member of this host. */
  accept(peer: Peer, message: MessageTuple): void
}

/** Sends the messages of one host over links, and pairs answers with its pending requests. */
export class Mailbox extends Outbox {
  readonly #directory: AddressDirectory
  readonly #linkFaults: LinkFaults
  readonly #receiver: Receiver
  readonly #linkTable: LinkTable
  readonly #pending = new PendingRequests()
  readonly packing: PacketWriterOptions

  constructor(options: MailboxOptions) {
    super(options)
    const { directory, linkFaults, receiver, findLink = noLink, checked, pooled = false } = options
    this.#directory = directory
    this.#linkFaults = linkFaults
    this.#receiver = receiver
    this.#linkTable = new LinkTable(directory, findLink)
    this.packing = { checked, pooled }
  }

  /** Requests without an answer, besides those of the protocol of replica sets. */
  get isWaiting(): boolean {
    return this.#pending.hasWork
  }

  /**
   * Rejects with a RequestFailedError, or with an UnpackableValueError for a value that no message
   * can hold.
   */
  request<K extends MessageKind>(
    cell: ActorCell,
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    const link = this.#linkTable.to(to)
    if (link === undefined || this.#refuses(cell, link.index, kind))
      return notSent('unreachable', to, `nothing answers at ${to}`)
    if (options?.signal?.aborted === true) return notSent('cancelled', to, `the request to ${to} was cancelled`)
    if (this.#pending.size >= Math.min(this.limits.outstandingRequests, mostPendingRequests)) {
      this.onLimit(cell.address, 'outstandingRequests', this.#pending.size)
      return notSent('unreachable', to, 'too many requests wait for an answer')
    }
    const { peer, index } = link
    const pending = new PendingRequest(this.#pending, cell, { peer, to, toIndex: index, kind })
    try {
      peer.addRequest(pending.id, index, cell.index, kind, request)
      if (options?.timeoutMs !== undefined) pending.failAfter(options.timeoutMs)
      if (options?.signal !== undefined) pending.endWith(options.signal)
      // Last: a full packet to a member of this host is sent, and may be answered, inside this
      // call.
      this.written(peer, cell.address)
    } catch (error) {
      this.#pending.take(pending.id)
      pending.reject(error)
    }
    return pending.promise as Promise<ReplyOf<K>>
  }

  /** The message is lost when the member is down. @throws UnpackableValueError */
  notify<K extends MessageKind>(cell: ActorCell, to: Address, kind: K, request: RequestOf<K>): void {
    const link = this.#linkTable.to(to)
    if (link === undefined || this.#refuses(cell, link.index, kind)) return
    link.peer.addNotice(link.index, cell.index, kind, request)
    this.written(link.peer, cell.address)
  }

  /** @throws UnpackableValueError */
  reply(cell: ActorCell, { peer, id, from, kind }: RequestOrigin, reply: unknown): void {
    if (peer.closed) return
    peer.addReply(id, from, cell.index, kind, reply as never)
    this.written(peer, cell.address)
  }

  /** There will be no answer. `index`: the member that was asked. */
  fail({ peer, id, from, kind }: RequestOrigin, index: number, undelivered: boolean, why: string): void {
    if (peer.closed) return
    const address = this.#directory.addressOf(index) ?? `#${index}`
    peer.addFailure(id, from, index, kind, ['unreachable', undelivered, `${address} ${why}`])
    this.written(peer, null)
  }

  /** The member that was asked is not primary. `index`: that member. */
  refuse({ peer, id, from, kind }: RequestOrigin, index: number, error: NotPrimaryError): void {
    if (peer.closed) return
    const { undelivered, primaryHint, message } = error
    const why = `${this.#directory.addressOf(index)!} ${message}`
    peer.addFailure(id, from, index, kind, ['unreachable', undelivered, why, primaryHint])
    this.written(peer, null)
  }

  receive(peer: Peer, packet: Uint8Array): void {
    this.#acceptAll(peer, readPacket(packet))
  }

  /** From a host with another directory. @param translate a number of its into one of ours */
  receiveForeign(peer: Peer, packet: Uint8Array, translate: (index: number) => number): void {
    const translated = readPacket(packet).map(([type, id, to, from, kind, payload]): MessageTuple => {
      return [type, id, translate(to), translate(from), kind, payload]
    })
    this.#acceptAll(peer, translated)
  }

  /** The packet never left this thread. */
  receiveInPlace(peer: Peer, packet: Packet): void {
    this.#acceptAll(peer, readPacketInPlace(packet))
  }

  route(link: Link): void {
    this.#linkTable.set(link)
  }

  /** The member is down: requests to it fail at once, and unanswered ones fail now. */
  unroute(index: number): void {
    this.#linkTable.delete(index)
    this.#pending.failWhere((request) => request.toIndex === index, 'went down before it answered')
  }

  /** The other host is gone: nothing is sent to it or received from it any more. */
  closePeer(peer: Peer): void {
    if (peer.closed) return
    peer.closed = true
    this.#linkTable.deleteThrough(peer)
    this.#pending.failWhere((request) => request.peer === peer, 'went away before it answered')
  }

  /** The incarnation is gone: its requests never settle. */
  dropRequestsOf(cell: ActorCell): void {
    this.#pending.dropAllOf(cell)
  }

  /** The links were silent for too long: requests that wait on them fail. */
  failLinks(affects: (one: Address, other: Address) => boolean, why: string): void {
    this.#pending.failWhere(
      ({ cell, toIndex }) =>
        cell.address !== clusterAddress && affects(linkName(cell.address), this.#directory.addressOf(toIndex)!),
      why,
    )
  }

  #acceptAll(peer: Peer, messages: readonly MessageTuple[]): void {
    for (const message of messages) {
      if (this.#linkFaults.active) this.#filter(peer, message)
      else this.#accept(peer, message)
    }
  }

  /** No fault delays or drops the message. */
  #accept(peer: Peer, message: MessageTuple): void {
    const type = message[0]
    if (type === packetTypes.reply) {
      const request = this.#pending.take(message[1])
      request?.resolve(kindShapeAt(message[4]).toReply(message[5]))
    } else if (type === packetTypes.failure) {
      const [reason, undelivered, text, primaryHint = null] = message[5] as unknown as FailurePayload
      this.#pending.fail(message[1], reason, text, undelivered, primaryHint)
    } else if (type === packetTypes.broken) {
      this.#disconnect(message[2], message[3], String(message[5][0]))
    } else {
      this.#receiver.accept(peer, message)
    }
  }

  /**
   * Failures, broken connections and the API's own requests skip link faults. A refusal is an
   * answer of the actor, so it does not.
   */
  #filter(peer: Peer, message: MessageTuple): void {
    const [type, id, to, from, kindIndex, payload] = message
    const isAnswer = type === packetTypes.reply || isRefusal(message)
    const { kind } = kindShapeAt(kindIndex)
    const [sender, receiver] = [this.#linkEnd(from, kind), this.#linkEnd(to, kind)]
    if (
      sender === null ||
      receiver === null ||
      from === to ||
      (type === packetTypes.failure && !isAnswer) ||
      type === packetTypes.broken
    )
      return this.#accept(peer, message)
    const lose = (why: string): void => {
      if (isAnswer) this.#pending.fail(id, 'unreachable', `${sender} ${why}`)
      else if (type === packetTypes.request) this.fail({ peer, id, from, kind }, to, false, why)
    }
    this.#linkFaults.pass(sender, receiver, kind, isAnswer, {
      get sizeBytes() {
        return sizeOfMessage(payload)
      },
      deliver: () => this.#accept(peer, message),
      deliverTwice: () => {
        this.#accept(closedPeer, message)
        this.#accept(peer, message)
      },
      lose,
      cut: lose,
      break: (why) => {
        this.#disconnect(to, from, why)
        if (peer.closed) return
        peer.addBroken(from, to, why)
        this.written(peer, null)
      },
    })
  }

  /**
   * The connection of two members is gone: requests of the first to the second fail, and messages
   * under way from there are lost.
   */
  #disconnect(index: number, otherIndex: number, why: string): void {
    const [here, there] = [this.#directory.addressOf(index) ?? '', this.#directory.addressOf(otherIndex) ?? '']
    this.#linkFaults.loseQueued(there, here, why)
    this.#pending.failWhere((request) => request.cell.index === index && request.toIndex === otherIndex, why)
  }

  #refuses(cell: ActorCell, index: number, kind: MessageKind): boolean {
    if (!this.#linkFaults.active) return false
    const from = this.#linkEnd(cell.index, kind)
    const to = this.#directory.addressOf(index)!
    return from !== null && from !== to && this.#linkFaults.refuses(from, to, kind)
  }

  #linkEnd(index: number, kind: MessageKind): Address | null {
    const address = this.#directory.addressOf(index)
    return address === undefined ? null : linkEnd(address, kind)
  }
}

/** The requester of a duplicated message: its answer is dropped. */
const closedPeer: Peer = new CallbackPeer({}, () => {})
closedPeer.closed = true

function isRefusal([type, , , , , payload]: MessageTuple): boolean {
  return type === packetTypes.failure && payload.length === 4
}

function noLink(): undefined {}

function notSent(reason: 'unreachable' | 'cancelled', to: Address, message: string): Promise<never> {
  return Promise.reject(new RequestFailedError(reason, to, message, true))
}
