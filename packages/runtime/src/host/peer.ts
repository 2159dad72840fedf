import { PacketWriter, type PacketWriterOptions } from '@shardlab/actor'

/** What brings packets to another host. */
export interface Carrier {
  /** Takes the packet that the writer has: in a buffer of exactly its size, which it may transfer, unless it is `pooled`. */
  post(writer: PacketWriter): void
}

/**
 * The way to another host (or back to the own one): what is written in one turn leaves as one packet. Messages of
 * one pair of actors arrive in the order in which they were sent.
 */
export class Peer {
  readonly hostId: number
  readonly writer: PacketWriter
  /** Waits for the end of the turn; also when what was written was so much that it has left already. */
  dirty = false
  /** Who waits for it behind this one. */
  nextDirty: Peer | null = null
  /** Gone for good: what is written is dropped. A host that comes back is another peer. */
  closed = false
  readonly #carrier: Carrier

  constructor(hostId: number, carrier: Carrier, packing: PacketWriterOptions) {
    this.hostId = hostId
    this.writer = new PacketWriter(packing)
    this.#carrier = carrier
  }

  flush(): void {
    if (this.writer.messageCount === 0) return
    if (this.closed) this.writer.takeInPlace()
    else this.#carrier.post(this.writer)
  }
}
