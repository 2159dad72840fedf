import type { Socket } from 'node:net'
import { CommandError } from '@shardlab/bson'
import { noAnswer, type LogLevel, type ReplyOf } from '@shardlab/actor'
import {
  decodeRequest,
  encodeReply,
  FrameReader,
  ProtocolError,
  refusedRequest,
  uncompressedSizeBytes,
  type CommandRequest,
  type WireRequest,
} from '@shardlab/wire'
import type { GatewayTarget } from '../host/clients/gateway-target.js'
import { ReplyCutError } from '../host/faults/reply-cut-error.js'
import { isThenable } from '../host/thenable.js'
import { findCompressor } from './compressors.js'
import { followingRequest } from './exhaust.js'
import { ReplyBatch } from './reply-batch.js'
import { RequestMemory } from './request-memory.js'

export interface ConnectionHost {
  readonly target: GatewayTarget
  readonly maxQueuedInputBytes: number
  /** Null: it has no limit. */
  readonly requestMemory: RequestMemory | null
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void
  nextRequestId(): number
  /** Calls `connection.flush()` at the end of this turn of the event loop. */
  flushLater(connection: Connection): void
  /** Called when the client has closed the connection while its last command runs. */
  disconnected(connection: Connection): void
  closed(connection: Connection): void
}

type ClientReply = ReplyOf<'client.command'>

/** Answers of this size are written before the next command runs. */
const flushAtBytes = 1_048_576

/**
 * Runs one client's commands in the order in which they arrived. The answers of one turn of the
 * event loop leave in one write. The socket is not read while too much input waits for a running
 * command, nor while the client does not read its answers.
 */
export class Connection {
  readonly id: number
  /** `host:port` of the client. */
  readonly remote: string
  readonly socket: Socket
  /** Whether the actor has been told that the connection has ended. */
  isReported = false
  /** Below TLS, else the same. */
  readonly #raw: Socket
  readonly #host: ConnectionHost
  readonly #reader: FrameReader
  readonly #replies = new ReplyBatch()
  #running: CommandRequest | null = null
  /** Of {@link ConnectionHost.requestMemory}, for the request that arrives or runs. */
  #reservedBytes = 0
  /** The next request of an exhaust stream, which the client did not send. */
  #following: CommandRequest | null = null
  #followingScheduled = false
  #flushScheduled = false
  /** The socket's buffer is full: the client does not read. */
  #blocked = false
  #paused = false
  #inputEnded = false
  /** No further command is started. */
  #closing = false

  constructor(id: number, socket: Socket, raw: Socket, host: ConnectionHost) {
    this.id = id
    this.socket = socket
    this.#raw = raw
    this.#host = host
    this.#reader = new FrameReader(host.requestMemory === null ? null : (lengthBytes) => this.#reserve(lengthBytes))
    this.remote = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}`
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('drain', () => this.#drained())
    socket.on('end', () => this.#inputOver())
    socket.on('error', (error) =>
      host.log('debug', 'connection failed', { connectionId: this.id, remote: this.remote, error: error.message }),
    )
    socket.on('close', () => {
      this.#closing = true
      if (this.#running === null) this.#release()
      host.closed(this)
    })
  }

  /** Finishes the running command, writes the waiting answers, then ends the connection. */
  close(): void {
    this.#closing = true
    if (this.#running === null) this.#finish()
    this.#throttle()
  }

  destroy(): void {
    this.#closing = true
    this.#reset()
  }

  flush(): void {
    this.#flushScheduled = false
    if (this.#replies.isEmpty || this.socket.destroyed) return
    // `write` also returns false for a large answer that was written at once.
    this.#blocked = !this.#replies.flush(this.socket) && this.socket.writableLength > 0
  }

  #receive(chunk: Buffer): void {
    if (this.#closing) return
    this.#reader.push(chunk)
    if (this.#running === null && !this.#blocked) {
      this.#run()
      this.flush()
    }
    this.#throttle()
  }

  #drained(): void {
    this.#blocked = false
    if (this.#running === null) {
      this.#run()
      this.flush()
    }
    this.#throttle()
  }

  #inputOver(): void {
    this.#inputEnded = true
    if (this.#running === null && !this.#blocked) this.#finish()
    else if (this.#reader.bufferedBytes === 0) this.#host.disconnected(this)
  }

  /** Stops at a command that is not answered at once. */
  #run(): void {
    try {
      while (!this.#closing && !this.#blocked) {
        if (this.#following !== null && !this.#inputEnded) return this.#follow()
        const frame = this.#reader.next()
        if (frame === null) break
        const request = this.#decode(frame)
        if (request === null) return
        if (this.#execute(request)) return
        this.#release()
        if (this.#replies.sizeBytes >= flushAtBytes) this.flush()
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#reject(error)
      return
    }
    if (this.#closing || (this.#inputEnded && !this.#blocked)) this.#finish()
  }

  /** @returns null: the connection is closed */
  #decode(frame: Uint8Array): WireRequest | null {
    if (this.#host.requestMemory === null) return decodeRequest(frame, findCompressor)
    const isRefused = this.#reader.isRefused || !this.#reserve(uncompressedSizeBytes(frame) ?? 0)
    if (!isRefused) return decodeRequest(frame, findCompressor)
    const { bytesMax } = this.#host.requestMemory
    const error = new CommandError(
      'TemporarilyUnavailable',
      `too much memory of requests: the limit is ${bytesMax} bytes`,
    )
    const request = refusedRequest(frame, error)
    if (request !== null) return request
    this.#host.log('warn', 'request refused: connection closed', {
      connectionId: this.id,
      remote: this.remote,
      error: error.message,
    })
    this.#closing = true
    this.flush()
    this.socket.destroySoon()
    return null
  }

  #reserve(lengthBytes: number): boolean {
    if (!RequestMemory.isCounted(lengthBytes)) return true
    const isReserved = this.#host.requestMemory!.reserve(lengthBytes, this.#reservedBytes)
    this.#reservedBytes = isReserved ? this.#reservedBytes + lengthBytes : 0
    return isReserved
  }

  #release(): void {
    if (this.#reservedBytes === 0) return
    this.#host.requestMemory!.release(this.#reservedBytes)
    this.#reservedBytes = 0
  }

  /** @returns whether the answer comes later */
  #execute(request: WireRequest): boolean {
    if (request.kind === 'invalid') {
      if (!request.moreToCome) this.#replies.add(request.format, this.#host.nextRequestId(), request.reply)
      return false
    }
    let answer: Promise<ClientReply> | ClientReply
    try {
      answer = this.#host.target.request('client.command', {
        connectionId: this.id,
        body: request.body,
        sequences: request.sequences,
        legacy: request.format.legacy,
        remote: this.remote,
      })
    } catch (error) {
      this.#fail(error)
      return true
    }
    if (!isThenable(answer)) {
      this.#answer(request, answer)
      return false
    }
    this.#running = request
    answer.then(this.#onAnswer, this.#onFailure)
    return true
  }

  #answer(request: CommandRequest, reply: ClientReply): void {
    if (reply.body.length === noAnswer.length) return this.#hangUp()
    if (request.moreToCome) return
    const id = this.#host.nextRequestId()
    this.#following = followingRequest(request, reply, id)
    this.#replies.add(
      this.#following === null ? request.format : { ...request.format, moreToCome: true },
      id,
      reply.body,
    )
  }

  #hangUp(): void {
    this.#closing = true
    this.flush()
    this.socket.destroySoon()
  }

  /** Continues an exhaust stream in another turn: one that never waits would starve all others. */
  #follow(): void {
    if (this.#followingScheduled) return
    this.#followingScheduled = true
    setImmediate(() => {
      this.#followingScheduled = false
      const request = this.#following
      if (request === null || this.#closing || this.#blocked) return
      this.#following = null
      if (!this.#execute(request)) this.#run()
      this.#scheduleFlush()
      this.#throttle()
    })
  }

  readonly #onAnswer = (reply: ClientReply): void => {
    const request = this.#running!
    this.#running = null
    this.#release()
    if (this.socket.destroyed) return
    this.#answer(request, reply)
    if (this.#closing) this.#finish()
    else this.#run()
    this.#scheduleFlush()
    this.#throttle()
  }

  readonly #onFailure = (error: unknown): void => {
    const request = this.#running!
    this.#running = null
    this.#release()
    if (error instanceof ReplyCutError) this.#cut(request, error.body)
    else this.#fail(error)
  }

  #cut({ format }: CommandRequest, body: Uint8Array): void {
    this.#closing = true
    if (this.socket.destroyed) return
    this.flush()
    const compressor = format.compressorId === null ? undefined : findCompressor(format.compressorId)
    const bytes = encodeReply(format, this.#host.nextRequestId(), body, compressor)
    this.socket.write(bytes.subarray(0, bytes.length >> 1))
    this.socket.destroySoon()
  }

  /** The actor is gone: resets the connection, as when a server's process dies. */
  #fail(error: unknown): void {
    this.#closing = true
    if (this.socket.destroyed) return
    this.#host.log('warn', 'command was not answered: connection reset', {
      connectionId: this.id,
      remote: this.remote,
      error: error instanceof Error ? error.message : String(error),
    })
    this.#reset()
  }

  /** Answers to earlier commands are still written. */
  #reject(error: ProtocolError): void {
    this.#closing = true
    this.#host.log(error.closingBytes === null ? 'warn' : 'info', 'malformed message: connection closed', {
      connectionId: this.id,
      remote: this.remote,
      code: error.code,
      codeName: error.codeName,
      error: error.message,
    })
    this.flush()
    if (error.closingBytes !== null) this.socket.write(error.closingBytes)
    // Not `end`: further input of the client would keep the connection open.
    this.socket.destroySoon()
  }

  #finish(): void {
    if (this.#inputEnded && this.#reader.bufferedBytes > 0 && !this.#closing) {
      this.#host.log('debug', 'connection ended within a message', { connectionId: this.id, remote: this.remote })
    }
    this.#closing = true
    this.flush()
    this.socket.end()
  }

  #scheduleFlush(): void {
    if (this.#flushScheduled || this.#replies.isEmpty) return
    this.#flushScheduled = true
    this.#host.flushLater(this)
  }

  #throttle(): void {
    const pause =
      !this.#closing &&
      (this.#blocked || (this.#running !== null && this.#reader.bufferedBytes > this.#host.maxQueuedInputBytes))
    if (pause === this.#paused) return
    this.#paused = pause
    if (pause) this.socket.pause()
    else this.socket.resume()
  }

  #reset(): void {
    // Node.js 20 never closes a socket that is reset while it is shutting down, and its thread does
    // not end.
    if (this.socket.writableEnded) this.socket.destroy()
    else this.#raw.resetAndDestroy()
  }
}
