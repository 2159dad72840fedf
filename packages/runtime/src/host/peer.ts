import { PacketWriter, type PacketWriterOptions } from '@shardlab/actor'

/**
 * The way to another host (or back to the own one), and what is written there: what is written in one turn leaves as one packet. Messages of
 * one pair of actors arrive in the order in which they were sent. One object for all of it: a large cluster has hundreds of thousands.
 */
export abstract class Peer extends PacketWriter {
  /** Waits for the end of the turn; also when what was written was so much that it has left already. */
  dirty = false
  /** Who waits for it behind this one. */
  nextDirty: Peer | null = null
  /** Gone for good: what is written is dropped. A host that comes back is another peer. */
  closed = false

  flush(): void {
    if (this.messageCount === 0) return
    if (this.closed) this.takeInPlace()
    else this.post()
  }

  /** Brings the packet that has been written to the other host, and takes it for that. */
  protected abstract post(): void
}

/** A way that somebody else knows. */
export class CarriedPeer extends Peer {
  readonly #carry: (peer: Peer) => void

  /** `carry` takes the packet: in a buffer of exactly its size, which it may transfer, unless it is `pooled`. */
  constructor(packing: PacketWriterOptions, carry: (peer: Peer) => void) {
    super(packing)
    this.#carry = carry
  }

  protected post(): void {
    this.#carry(this)
  }
}
