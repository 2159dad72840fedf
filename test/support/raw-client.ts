/** A minimal client with negligible cost: one socket, commands in, replies out in order. */
import { connect, type Socket } from 'node:net'
import { decode, encode, type Document } from '@shardlab/bson'
import { decodeReply, encodeCommand, FrameReader } from '@shardlab/wire'

interface Waiting {
  readonly resolve: (frame: Uint8Array) => void
  readonly reject: (error: Error) => void
}

export class RawClient {
  readonly #socket: Socket
  readonly #reader = new FrameReader()
  readonly #waiting: Waiting[] = []
  #requestId = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#reader.push(chunk)
      for (let frame = this.#reader.next(); frame !== null; frame = this.#reader.next())
        this.#waiting.shift()?.resolve(frame)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the connection was closed'))
    })
  }

  /** `endpoint` is `host:port`. */
  static connect(endpoint: string): Promise<RawClient> {
    const [host, port] = endpoint.split(':') as [string, string]
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new RawClient(socket))
      })
    })
  }

  /** Sends a whole message and resolves with the next reply. */
  exchange(message: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#socket.write(message)
    })
  }

  /** Sends a command and resolves with the reply document's bytes. */
  async commandBytes(
    body: Uint8Array,
    sequences: readonly (readonly [string, readonly Uint8Array[]])[] = [],
  ): Promise<Uint8Array> {
    return decodeReply(await this.exchange(encodeCommand(++this.#requestId, body, { sequences }))).body
  }

  async command(
    command: Document,
    sequences: readonly (readonly [string, readonly Uint8Array[]])[] = [],
  ): Promise<Document> {
    return decode(await this.commandBytes(encode(command), sequences), { promoteLongs: true })
  }

  /** Writes raw bytes. */
  write(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Resolves when the peer has closed the connection. */
  closed(): Promise<void> {
    return this.#socket.closed
      ? Promise.resolve()
      : new Promise((resolve) => this.#socket.once('close', () => resolve()))
  }

  close(): void {
    this.#socket.destroy()
  }
}
