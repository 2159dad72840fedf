import type { MessagePort } from 'node:worker_threads'
import type { ActorHost } from '../host/actor-host.js'
import type { Peer } from '../host/mailbox/peer.js'
import type { Member } from '../supervisor/member-table.js'
import { attachPort } from './port-peer.js'
import { locationOf, type ThreadsPlace, type WorkerPlace } from './worker-place.js'

export class WorkerPeers {
  readonly #host: ActorHost
  readonly #peers = new Map<number, Peer>()

  constructor(host: ActorHost) {
    this.#host = host
  }

  attach({ hostId }: WorkerPlace, port: MessagePort): void {
    this.#peers.set(hostId, attachPort(this.#host, port))
  }

  close({ hostId }: WorkerPlace): void {
    const peer = this.#peers.get(hostId)
    this.#peers.delete(hostId)
    if (peer !== undefined) this.#host.mailbox.closePeer(peer)
  }

  /** Sets or deletes the supervisor's link, by the member's state. */
  route(member: Member<ThreadsPlace>): void {
    const { hostId } = locationOf(member)
    const peer = hostId === null ? undefined : this.#peers.get(hostId)
    if (peer === undefined) this.#host.mailbox.unroute(member.index)
    else this.#host.mailbox.route({ index: member.index, peer })
  }
}
