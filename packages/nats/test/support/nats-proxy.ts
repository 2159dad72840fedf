/** Between clients and their server: loses or holds what a test wants lost or held. */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface Published {
  readonly subject: string
  readonly content: string
}

export type Fate = 'pass' | 'lose' | 'hold'

export class NatsProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #held: { readonly to: Socket; readonly bytes: Buffer }[] = []
  /** Called with each message that a client publishes. */
  fateOf: (message: Published) => Fate = () => 'pass'

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, '127.0.0.1')
      let rest: Buffer = Buffer.alloc(0)
      client.on('data', (bytes: Buffer) => {
        rest = Buffer.concat([rest, bytes])
        for (let frame = frameOf(rest); frame !== null; frame = frameOf(rest)) {
          rest = rest.subarray(frame.bytes.length)
          this.#forward(server, frame)
        }
      })
      server.on('data', (bytes: Buffer) => void client.write(bytes))
      for (const [socket, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          this.#sockets.delete(socket)
          other.destroy()
        })
      }
    })
  }

  /** @param port of the server */
  static async start(port: number): Promise<NatsProxy> {
    const proxy = new NatsProxy(port)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Forwards the messages that were held. */
  release(): void {
    for (const { to, bytes } of this.#held.splice(0)) to.write(bytes)
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #forward(to: Socket, { bytes, published }: Frame): void {
    const fate = published === null ? 'pass' : this.fateOf(published)
    if (fate === 'pass') to.write(bytes)
    else if (fate === 'hold') this.#held.push({ to, bytes })
  }
}

interface Frame {
  readonly bytes: Buffer
  /** null: it publishes nothing. */
  readonly published: Published | null
}

/** null: it is not complete. */
function frameOf(bytes: Buffer): Frame | null {
  const end = bytes.indexOf('\r\n')
  if (end < 0) return null
  const line = bytes.toString('latin1', 0, end)
  const start = end + 2
  const words = line.split(/\s+/)
  if (!/^H?PUB$/i.test(words[0]!)) return { bytes: bytes.subarray(0, start), published: null }
  const size = Number(words.at(-1))
  if (bytes.length < start + size + 2) return null
  const content = bytes.toString('latin1', start, start + size)
  return { bytes: bytes.subarray(0, start + size + 2), published: { subject: words[1]!, content } }
}
