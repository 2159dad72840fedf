/** Frames on a socket: four bytes of length, one of type, then the content. */
import type { Socket } from 'node:net'

export const frameTypes = { directory: 0, packet: 1 } as const

export type FrameType = (typeof frameTypes)[keyof typeof frameTypes]

const headBytes = 5
/** Above the largest packet, whose last message may be as large as a document. */
const frameBytesMax = 256 * 1024 * 1024

/** A process that does not read for so long is treated as one that is down. */
const unsentBytesMax = 512 * 1024 * 1024

export class FramedSocket {
  readonly socket: Socket
  readonly #onFrame: (type: FrameType, content: Uint8Array<ArrayBuffer>) => void
  #buffered: Buffer[] = []
  #bufferedBytes = 0
  #wantedBytes = headBytes

  constructor(socket: Socket, onFrame: (type: FrameType, content: Uint8Array<ArrayBuffer>) => void) {
    this.socket = socket
    this.#onFrame = onFrame
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
  }

  /** Closes the socket when too much of what was sent has not been read. */
  send(type: FrameType, content: Uint8Array): void {
    if (this.socket.writableLength + content.length > unsentBytesMax) return void this.socket.destroy()
    const head = Buffer.allocUnsafe(headBytes)
    head.writeUInt32LE(content.length)
    head[4] = type
    this.socket.cork()
    this.socket.write(head)
    this.socket.write(content)
    this.socket.uncork()
  }

  #receive(chunk: Buffer): void {
    this.#buffered.push(chunk)
    this.#bufferedBytes += chunk.length
    if (this.#bufferedBytes < this.#wantedBytes) return
    let bytes = this.#buffered.length === 1 ? chunk : Buffer.concat(this.#buffered)
    this.#wantedBytes = headBytes
    while (bytes.length >= headBytes) {
      const length = bytes.readUInt32LE(0)
      if (length > frameBytesMax) return void this.socket.destroy()
      const end = headBytes + length
      if (bytes.length < end) {
        this.#wantedBytes = end
        break
      }
      // Copied: members keep views of documents, which would keep the whole chunk.
      this.#onFrame(bytes[4] as FrameType, new Uint8Array(bytes.subarray(headBytes, end)))
      bytes = bytes.subarray(end)
    }
    this.#buffered = bytes.length === 0 ? [] : [bytes]
    this.#bufferedBytes = bytes.length
  }
}
