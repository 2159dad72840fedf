/**
 * A server that is not Shardlab: one thread, one Map, and the commands that a load test of one
 * collection needs. It can lose updates, stop answering, and refuse commands about the cluster.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { decode, encode, type Document } from '@shardlab/bson'
import { decodeRequest, encodeReply, FrameReader } from '@shardlab/wire'

const stallMs = 1000

export class StubServer {
  /** Acknowledge every n-th update without applying it; 0: apply all. */
  forgetEvery = 0
  /** Claim to be a mongos, and refuse every command about the cluster. */
  isSilentMongos = false
  /** After this many finds, answer nothing for a second; 0: always answer. */
  stallAfter = 0
  /** Called with the number of finds, or of inserts, received so far. */
  onCommand: (name: 'find' | 'insert', count: number) => void = () => {}
  readonly #documents = new Map<unknown, Document>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #updates = 0
  #finds = 0
  #inserts = 0
  /** Answers held back; null: every command is answered at once. */
  #held: (() => void)[] | null = null

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => this.#serve(socket))
  }

  static async start(): Promise<StubServer> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new StubServer(server)
  }

  get uri(): string {
    return `mongodb://127.0.0.1:${(this.#server.address() as AddressInfo).port}/?directConnection=true&retryWrites=false`
  }

  get isStalled(): boolean {
    return this.#held !== null
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #serve(socket: Socket): void {
    const reader = new FrameReader()
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('data', (chunk) => {
      reader.push(chunk)
      for (let frame = reader.next(); frame !== null; frame = reader.next()) {
        const request = decodeRequest(frame, () => undefined)
        if (request.kind === 'invalid') {
          socket.write(encodeReply(request.format, 1, request.reply))
          continue
        }
        const command = decode(request.body, { promoteLongs: true })
        for (const [name, documents] of request.sequences)
          command[name] = documents.map((document) => decode(document, { promoteLongs: true }))
        const reply = encodeReply(request.format, 1, encode(this.#answer(command)))
        if (command['find'] !== undefined && ++this.#finds === this.stallAfter) this.#stall()
        if (this.#held === null) socket.write(reply)
        else this.#held.push(() => socket.write(reply))
        if (command['find'] !== undefined) this.onCommand('find', this.#finds)
        if (command['insert'] !== undefined) this.onCommand('insert', ++this.#inserts)
      }
    })
  }

  #stall(): void {
    this.#held = []
    setTimeout(() => {
      const held = this.#held!
      this.#held = null
      for (const send of held) send()
    }, stallMs)
  }

  #answer(command: Document): Document {
    const [name] = Object.keys(command)
    if (this.isSilentMongos && (name === 'buildInfo' || command['$db'] === 'config'))
      return { ok: 0, errmsg: `not authorized on ${command['$db']}`, code: 13, codeName: 'Unauthorized' }
    switch (name) {
      case 'hello':
      case 'isMaster':
      case 'ismaster':
        return {
          helloOk: true,
          isWritablePrimary: true,
          ismaster: true,
          maxBsonObjectSize: 16_777_216,
          maxMessageSizeBytes: 48_000_000,
          maxWriteBatchSize: 100_000,
          minWireVersion: 0,
          maxWireVersion: 21,
          localTime: new Date(0),
          ...(this.isSilentMongos ? { msg: 'isdbgrid' } : {}),
          ok: 1,
        }
      case 'buildInfo':
        return { version: '7.0.0', gitVersion: 'a1b2c3', ok: 1 }
      case 'insert':
        for (const document of command['documents']) this.#documents.set(document._id, document)
        return { n: command['documents'].length, ok: 1 }
      case 'update':
        return this.#update(command['updates'][0])
      case 'find': {
        const firstBatch = this.#find(command['filter']).slice(0, command['limit'] || undefined)
        return { cursor: { firstBatch, id: 0n, ns: `${command['$db']}.${command['find']}` }, ok: 1 }
      }
      case 'drop':
        this.#documents.clear()
        return { ok: 1 }
      case 'endSessions':
        return { ok: 1 }
      default:
        return { ok: 0, errmsg: `no such command: '${name}'`, code: 59, codeName: 'CommandNotFound' }
    }
  }

  #find(filter: Document): Document[] {
    if (filter['_id'] === undefined) return [...this.#documents.values()]
    const found = this.#documents.get(filter['_id'])
    return found === undefined ? [] : [found]
  }

  #update({ q, u }: Document): Document {
    const document = this.#documents.get(q['_id'])
    if (document === undefined) return { n: 0, nModified: 0, ok: 1 }
    const forgets = this.forgetEvery > 0 && ++this.#updates % this.forgetEvery === 0
    if (!forgets) Object.assign(document, u['$set'])
    return { n: 1, nModified: 1, ok: 1 }
  }
}
