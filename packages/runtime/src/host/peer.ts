import { PacketWriter, type PacketWriterOptions } from '@shardlab/actor'

/**
 * The way to another host (or back to the own one): what is written in one turn leaves as one packet. Messages of
 * one pair of actors arrive in the order in which they were sent.
 */
export class Peer {
  readonly hostId: number
  readonly writer: PacketWriter
  /** Waits for the end of the turn. */
  dirty = false
  /** Gone for good: what is written is dropped. A host that comes back is another peer. */
  closed = false
  readonly #post: (packet: Uint8Array<ArrayBuffer>) => void

  /** `post` gets packets in buffers of exactly their size, which it may transfer. */
  constructor(hostId: number, post: (packet: Uint8Array<ArrayBuffer>) => void, packing: PacketWriterOptions) {
    this.hostId = hostId
    this.writer = new PacketWriter(packing)
    this.#post = post
  }

  flush(): void {
    this.dirty = false
    if (this.writer.messageCount === 0) return
    const packet = this.writer.take()
    if (!this.closed) this.#post(packet)
  }
}
