import { PacketWriter, type PacketWriterOptions } from '@shardlab/actor'

/**
 * Another host (or this one itself) as a destination, with the packet that is being written to it.
 * Messages of one pair of actors arrive in the order in which they were sent.
 *
 * One object instead of two, because a large cluster has hundreds of thousands of them.
 */
export abstract class Peer extends PacketWriter {
  /**
   * In the outbox's list of this turn, even when the packet has already left because of its size.
   */
  dirty = false
  nextDirty: Peer | null = null
  /** Gone for good: what is written is dropped. A restarted host is another peer. */
  closed = false

  flush(): void {
    if (this.messageCount === 0) return
    if (this.closed) this.takeInPlace()
    else this.transmit()
  }

  /** Must take the packet out of this writer. */
  protected abstract transmit(): void
}

export class CallbackPeer extends Peer {
  readonly #send: (peer: Peer) => void

  /**
   * @param send must take the packet out of the peer; unless `packing.pooled`, its buffer holds
   *   nothing else and may be transferred
   */
  constructor(packing: PacketWriterOptions, send: (peer: Peer) => void) {
    super(packing)
    this.#send = send
  }

  protected transmit(): void {
    this.#send(this)
  }
}
