import { connect, type Socket } from 'node:net'
import { decode, encode, type Document } from '@shardlab/bson'
import { decodeReply, encodeCommand, FrameReader } from '@shardlab/wire'
import type { ConnectionTls } from './tls-of-uri.js'

export interface Target {
  readonly host: string
  readonly port: number
  /** Null: without TLS. */
  readonly tls: ConnectionTls | null
}

interface Waiting {
  resolve(reply: Uint8Array): void
  reject(error: Error): void
}

/** A connection that runs one command after the other. */
export class CommandConnection {
  readonly #socket: Socket
  readonly #frames = new FrameReader()
  #waiting: Waiting | null = null
  #failure: Error | null = null
  #lastId = 0

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket
    socket.setTimeout(timeoutMs, () => this.#fail(new Error(`no answer within ${timeoutMs / 1000} s`)))
    socket.on('error', (error) => this.#fail(error))
    socket.once('close', () => this.#fail(new Error('the server closed the connection')))
    socket.on('data', (chunk) => this.#take(chunk))
  }

  /** @param timeoutMs of each command; 0: none. @throws Error the files of TLS cannot be read */
  static async open(target: Target, timeoutMs: number): Promise<CommandConnection> {
    return new CommandConnection(await openSocket(target), timeoutMs)
  }

  /** Resolves with error replies, too. @throws Error there is no reply */
  async command(db: string, command: Document): Promise<Document> {
    return decode(await this.send(encode({ ...command, $db: db })), { promoteLongs: true })
  }

  /** The same for a command with `$db`, as bytes. */
  send(body: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure)
      if (this.#waiting !== null) return reject(new Error('another command is running'))
      this.#waiting = { resolve, reject }
      // Node.js sends it when the connection is there.
      this.#socket.write(encodeCommand(++this.#lastId, body))
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    try {
      this.#frames.push(chunk)
      const frame = this.#frames.next()
      if (frame === null) return
      const { body } = decodeReply(frame)
      const waiting = this.#waiting
      this.#waiting = null
      waiting?.resolve(body)
    } catch {
      this.#fail(new Error('the server does not speak the wire protocol'))
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#waiting?.reject(this.#failure)
    this.#waiting = null
    this.#socket.destroy()
  }
}

async function openSocket({ host, port, tls }: Target): Promise<Socket> {
  if (tls === null) return connect({ host, port })
  const { connectByTls } = await import('./connect-by-tls.js')
  return connectByTls(host, port, tls)
}
