import { PacketWriter, type PacketWriterOptions } from '@shardlab/actor'

/**
 * Another host (or this one itself) as a destination of messages, with the packet that is being
 * written to it. Messages of one pair of actors arrive in the order in which they were sent.
 *
 * Destination and packet writer are one object because a large cluster has hundreds of thousands of
 * them.
 */
export abstract class Peer extends PacketWriter {
  /**
   * In the outbox's list of this turn, even when the packet has already left because of its size.
   */
  dirty = false
  /** The next peer in that list. */
  nextDirty: Peer | null = null
  /** Gone for good: what is written is dropped. A host that is restarted is another peer. */
  closed = false

  /** Sends the packet that has been written, if it holds any message. */
  flush(): void {
    if (this.messageCount === 0) return
    if (this.closed) this.takeInPlace()
    else this.transmit()
  }

  /** Takes the packet out of this writer and brings it to the other host. */
  protected abstract transmit(): void
}

/** A peer whose packets a function brings to the other host. */
export class CallbackPeer extends Peer {
  readonly #send: (peer: Peer) => void

  /**
   * @param send must take the packet out of the peer; unless `packing.pooled`, its buffer has
   *   exactly its size and may be transferred
   */
  constructor(packing: PacketWriterOptions, send: (peer: Peer) => void) {
    super(packing)
    this.#send = send
  }

  protected transmit(): void {
    this.#send(this)
  }
}
