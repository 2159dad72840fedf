import { connect, type Socket } from 'node:net'
import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import {
  decodeReply,
  encodeCommand,
  FrameReader,
  type CompressorLookup,
  type DecodedReply,
  type EncodeCommandOptions,
} from '@shardlab/wire'
import { openGateway, type Gateway, type GatewayOptions, type GatewayTarget } from '../src/gateway/index.js'

export type ClientCommand = RequestOf<'client.command'>
type Answer = Document | Promise<Document>

export class FakeTarget implements GatewayTarget {
  readonly commands: ClientCommand[] = []
  readonly disconnected: number[] = []
  readonly #answer: (command: Document, request: ClientCommand) => Answer
  #onDisconnected: (() => void) | null = null

  constructor(answer: (command: Document, request: ClientCommand) => Answer) {
    this.#answer = answer
  }

  request<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    return this.#request(kind, request as RequestOf<MessageKind>) as Promise<ReplyOf<K>> | ReplyOf<K>
  }

  async disconnections(count: number): Promise<void> {
    while (this.disconnected.length < count) await new Promise<void>((resolve) => (this.#onDisconnected = resolve))
  }

  #request(kind: MessageKind, request: RequestOf<MessageKind>): unknown {
    if (kind === 'client.disconnected') {
      this.disconnected.push((request as RequestOf<'client.disconnected'>).connectionId)
      this.#onDisconnected?.()
      return {}
    }
    const command = request as ClientCommand
    this.commands.push(command)
    const answer = this.#answer(decode(command.body), command)
    return answer instanceof Promise
      ? answer.then((document) => ({ body: encode(document) }))
      : { body: encode(answer) }
  }
}

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Record<string, unknown>
}

export async function open(
  target: GatewayTarget,
  options: Partial<GatewayOptions> = {},
): Promise<{ gateway: Gateway; lines: LogLine[] }> {
  const lines: LogLine[] = []
  const gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    target,
    log: (level, message, fields = {}) => lines.push({ level, message, fields }),
    ...options,
  })
  return { gateway, lines }
}

export class RawClient {
  readonly socket: Socket
  readonly chunks: Buffer[] = []
  readonly #compressors: CompressorLookup
  readonly #reader = new FrameReader()
  readonly #replies: DecodedReply[] = []
  readonly #waiting: (() => void)[] = []
  #lastRequestId = 0
  error: (Error & { code?: string }) | null = null
  closed = false

  constructor(socket: Socket, compressors: CompressorLookup) {
    this.socket = socket
    this.#compressors = compressors
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk)
      this.#reader.push(chunk)
      try {
        for (let frame; (frame = this.#reader.next());) this.#replies.push(decodeReply(frame, this.#compressors))
      } catch {
        // Not the wire protocol: the test reads the chunks.
      }
      this.#wake()
    })
    socket.on('error', (error) => (this.error = error))
    socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
  }

  static async open(gateway: Gateway, compressors: CompressorLookup = () => undefined): Promise<RawClient> {
    const socket = connect(gateway.port, gateway.host)
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new RawClient(socket, compressors)
  }

  write(bytes: Uint8Array): void {
    this.socket.write(bytes)
  }

  send(command: Document, options: EncodeCommandOptions = {}): number {
    const requestId = ++this.#lastRequestId
    this.write(encodeCommand(requestId, encode({ $db: 'admin', ...command }), options))
    return requestId
  }

  async reply(): Promise<DecodedReply> {
    while (this.#replies.length === 0) {
      if (this.closed) throw new Error(`closed: ${this.error?.message ?? 'in order'}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this.#replies.shift()!
  }

  async run(command: Document, options: EncodeCommandOptions = {}): Promise<Document> {
    this.send(command, options)
    return decode((await this.reply()).body)
  }

  async close(): Promise<void> {
    while (!this.closed) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve!: (value: T) => void
  let reject!: (error: Error) => void
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
