/** Writes all messages of a turn at once, and matches replies in order. */
import { connect, type Socket } from 'node:net'

/** A connection with requests but no data for this long is dead. */
const silenceMs = 30_000

/** Positions in the header of a message. */
const requestIdAt = 4
const responseToAt = 8

interface Waiting {
  readonly requestId: number
  readonly resolve: (reply: Buffer) => void
  readonly reject: (error: Error) => void
}

export class WireConnection {
  readonly #host: string
  readonly #port: number
  readonly #waiting: Waiting[] = []
  #socket: Socket | null = null
  #connecting: Promise<void> | null = null
  #outgoing: Buffer[] = []
  #rest: Buffer | null = null
  #requestId = 0

  constructor(host: string, port: number) {
    this.#host = host
    this.#port = port
  }

  get isOpen(): boolean {
    return this.#socket !== null
  }

  /** Rejects with the socket's error. */
  open(): Promise<void> {
    if (this.#socket !== null) return Promise.resolve()
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = null))
    return this.#connecting
  }

  /**
   * Resolves with the reply; rejects if the connection ends first, or if the server answers in
   * another order. Call only while open.
   */
  exchange(message: Buffer): Promise<Buffer> {
    const socket = this.#socket
    if (socket === null) return Promise.reject(new Error('ConnectionClosed'))
    const requestId = (this.#requestId = (this.#requestId + 1) & 0x7fffffff)
    message.writeInt32LE(requestId, requestIdAt)
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush())
    return new Promise((resolve, reject) => this.#waiting.push({ requestId, resolve, reject }))
  }

  close(): void {
    this.#socket?.destroy()
  }

  #flush(): void {
    const outgoing = this.#outgoing
    this.#outgoing = []
    if (outgoing.length > 0) this.#socket?.write(outgoing.length === 1 ? outgoing[0]! : Buffer.concat(outgoing))
  }

  #connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.#host, port: this.#port, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        socket.on('error', () => {})
        socket.on('data', (chunk: Buffer) => this.#receive(chunk))
        socket.setTimeout(silenceMs, () => {
          if (this.#waiting.length > 0) socket.destroy()
        })
        socket.on('close', () => this.#closed())
        this.#socket = socket
        resolve()
      })
    })
  }

  #closed(): void {
    this.#socket = null
    this.#rest = null
    this.#outgoing = []
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('ConnectionClosed'))
  }

  #receive(chunk: Buffer): void {
    let data = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (data.length - at >= 4) {
      const length = data.readInt32LE(at)
      if (data.length - at < length) break
      const waiting = this.#waiting.shift()
      if (waiting !== undefined && data.readInt32LE(at + responseToAt) !== waiting.requestId) {
        waiting.reject(new Error('ReplyToOtherRequest'))
        this.#socket?.destroy()
        return
      }
      waiting?.resolve(data.subarray(at, at + length))
      at += length
    }
    data = data.subarray(at)
    this.#rest = data.length === 0 ? null : data
  }
}
