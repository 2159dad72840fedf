import type { Socket } from 'node:net'
import { encodeReply, replySizeBytes, writeReply, writeReplyHead, type ReplyFormat } from '@shardlab/wire'
import { findCompressor } from './compressors.js'

/** Documents of this size or more are sent from their own memory instead of being copied. */
const gatherFromBytes = 65_536

/** The unwritten answers of one connection. They leave in one write. */
export class ReplyBatch {
  readonly #formats: ReplyFormat[] = []
  readonly #bodies: Uint8Array[] = []
  readonly #requestIds: number[] = []
  #sizeBytes = 0
  /** An answer is sent in pieces: it is compressed, or too large to copy. */
  #special = false

  get isEmpty(): boolean {
    return this.#formats.length === 0
  }

  /** Before compression. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  add(format: ReplyFormat, requestId: number, body: Uint8Array): void {
    this.#formats.push(format)
    this.#bodies.push(body)
    this.#requestIds.push(requestId)
    this.#sizeBytes += replySizeBytes(format, body.length)
    if (format.compressorId !== null || body.length >= gatherFromBytes) this.#special = true
  }

  /** @returns false: the socket's buffer is full, wait for `drain` */
  flush(socket: Socket): boolean {
    const accepted = this.#special ? this.#flushPieces(socket) : this.#flushCopied(socket)
    this.#formats.length = 0
    this.#bodies.length = 0
    this.#requestIds.length = 0
    this.#sizeBytes = 0
    this.#special = false
    return accepted
  }

  #flushCopied(socket: Socket): boolean {
    const bytes = Buffer.allocUnsafe(this.#sizeBytes)
    let at = 0
    for (let i = 0; i < this.#formats.length; i++)
      at = writeReply(bytes, at, this.#formats[i]!, this.#requestIds[i]!, this.#bodies[i]!)
    return socket.write(bytes)
  }

  #flushPieces(socket: Socket): boolean {
    let accepted = true
    socket.cork()
    for (let i = 0; i < this.#formats.length; i++) {
      const format = this.#formats[i]!
      const body = this.#bodies[i]!
      if (format.compressorId === null && !format.checksum && body.length >= gatherFromBytes) {
        const head = Buffer.allocUnsafe(replySizeBytes(format, 0))
        writeReplyHead(head, 0, format, this.#requestIds[i]!, body.length)
        socket.write(head)
        accepted = socket.write(body)
      } else {
        const compressor = format.compressorId === null ? undefined : findCompressor(format.compressorId)
        accepted = socket.write(encodeReply(format, this.#requestIds[i]!, body, compressor))
      }
    }
    socket.uncork()
    return accepted
  }
}
