import { PacketWriter, type PacketWriterOptions } from '@shardlab/actor'

/** What brings packets to another host. */
export interface Carrier {
  /** Gets packets in buffers of exactly their size, which it may transfer, unless they are `pooled`. */
  post(packet: Uint8Array<ArrayBuffer>): void
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
    const packet = this.writer.take()
    if (!this.closed) this.#carrier.post(packet)
  }
}
