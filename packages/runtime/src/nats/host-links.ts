/** The links of one host to the others, for packets. */
import type { Mailbox } from '../host/mailbox/mailbox.js'
import { CallbackPeer, type Peer } from '../host/mailbox/peer.js'
import type { Broker, BrokerSubscription } from './broker.js'
import { FrameLink } from './frame-link.js'
import { packetSubject, packetSubjects, senderOf } from './subjects.js'

export interface LinkSettings {
  /** Of a message of the broker. */
  readonly messageBytesMax: number
  /** Of one link; when more was sent that has not arrived, the link breaks. */
  readonly unreceivedBytesMax: number
  /** How often the ends of a link compare what was sent and received. */
  readonly tickMs: number
}

export interface HostLinksOptions {
  readonly broker: Broker
  readonly cluster: string
  readonly hostId: number
  readonly settings: LinkSettings
  readonly mailbox: Mailbox
  /** The link broke: members of that host are reached through another peer. */
  readonly onNewPeer: (hostId: number, peer: Peer) => void
  readonly onLimit: (bytes: number) => void
}

interface OpenLink {
  readonly frames: FrameLink
  peer: Peer
}

export class HostLinks {
  readonly #options: HostLinksOptions
  readonly #links = new Map<number, OpenLink>()
  /** Hosts of the cluster. Messages with other numbers are ignored: strangers may send any. */
  readonly #known = new Set<number>()
  /** Hosts that have left. Their late messages are ignored. */
  readonly #closed = new Set<number>()
  readonly #subscription: BrokerSubscription
  readonly #timer: NodeJS.Timeout

  constructor(options: HostLinksOptions) {
    this.#options = options
    const { broker, cluster, hostId, settings } = options
    this.#subscription = broker.subscribe(packetSubjects(cluster, hostId), ({ subject, content }) => {
      const sender = senderOf(subject)
      if (this.#known.has(sender)) this.#find(sender)?.frames.receive(content)
    })
    this.#timer = setInterval(() => {
      for (const { frames } of this.#links.values()) frames.tick()
    }, settings.tickMs).unref()
  }

  /** Receives messages of the host. To be called before the host learns its number. */
  admit(hostId: number): void {
    if (!this.#closed.has(hostId)) this.#known.add(hostId)
  }

  /** Admits the host. undefined: it has left. */
  find(hostId: number): Peer | undefined {
    this.admit(hostId)
    return this.#find(hostId)?.peer
  }

  /** Requests that wait for an answer of the host fail. */
  close(hostId: number): void {
    this.#closed.add(hostId)
    this.#known.delete(hostId)
    const link = this.#links.get(hostId)
    if (link === undefined) return
    this.#links.delete(hostId)
    link.frames.close()
    this.#options.mailbox.closePeer(link.peer)
  }

  closeAll(): void {
    clearInterval(this.#timer)
    this.#subscription.close()
    for (const hostId of this.#links.keys()) this.close(hostId)
  }

  #find(hostId: number): OpenLink | undefined {
    return this.#links.get(hostId) ?? (this.#closed.has(hostId) ? undefined : this.#open(hostId))
  }

  #open(hostId: number): OpenLink {
    const { broker, cluster, hostId: self, settings, mailbox, onLimit, onNewPeer } = this.#options
    const subject = packetSubject(cluster, hostId, self)
    const frames = new FrameLink({
      ...settings,
      send: (message) => broker.publish(subject, message),
      onFrame: (packet) => mailbox.receive(link.peer, packet),
      onLimit,
      onBroken: () => {
        const { peer } = link
        link.peer = newPeer()
        mailbox.closePeer(peer)
        onNewPeer(hostId, link.peer)
      },
    })
    const newPeer = () => new CallbackPeer(mailbox.packing, (written) => frames.write(written.take()))
    const link: OpenLink = { frames, peer: newPeer() }
    this.#links.set(hostId, link)
    return link
  }
}
