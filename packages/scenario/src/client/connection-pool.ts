/**
 * Drivers' specification: Connection Monitoring and Pooling. A connection is a number under which
 * the mongos knows the client; its commands run in sequence.
 */
import {
  createDeferred,
  noAnswer,
  RequestFailedError,
  type ActorContext,
  type Address,
  type Deferred,
} from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { logIn, LoginError, nonceBytes, simulatedMeans, type Login } from '@shardlab/cluster'
import { CommandFailure, NetworkFailure } from './failures.js'
import { codeOf, labelsOf } from './reply.js'
import { overloadLabels, type Sequences } from './retry-rules.js'

export interface Connection {
  readonly id: number
  /** Generation of the pool when the connection was opened. */
  readonly generation: number
  /** The last unacknowledged command; the mongos takes the next one after it. */
  unanswered: Promise<unknown> | null
}

export interface PoolParts {
  readonly context: ActorContext
  /** Sent with each handshake. */
  readonly metadata: Document
  readonly nextConnectionId: () => number
  /** Per mongos; further commands wait. */
  readonly maxPoolSize: number
  readonly socketTimeoutMs: number | null
  /** null: connections need no user. */
  readonly login: Login | null
}

const connectTimeoutMs = 30_000

export class ConnectionPool {
  readonly #parts: PoolParts
  readonly #to: Address
  readonly #idle: Connection[] = []
  #waiting: Deferred<Connection>[] = []
  #open = 0
  generation = 0
  /** Paused until the mongos has replied once. */
  isPaused = true
  opened = 0

  constructor(parts: PoolParts, to: Address) {
    this.#parts = parts
    this.#to = to
  }

  /**
   * @throws NetworkFailure, CommandFailure of the handshake; NetworkFailure `cleared` if the pool
   * was cleared
   */
  async checkOut(): Promise<Connection> {
    if (this.isPaused) throw cleared(this.#to)
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    if (this.#open >= this.#parts.maxPoolSize) {
      const turn = createDeferred<Connection>()
      this.#waiting.push(turn)
      return turn.promise
    }
    return this.#connect()
  }

  checkIn(connection: Connection, isBroken: boolean): void {
    const waiter = this.#waiting.shift()
    if (!isBroken && connection.generation === this.generation) {
      if (waiter === undefined) this.#idle.push(connection)
      else waiter.resolve(connection)
      return
    }
    this.#close(connection)
    if (waiter !== undefined) this.#connect().then(waiter.resolve, waiter.reject)
  }

  /** Call if the mongos has changed, or has not replied yet. */
  clear(): void {
    this.generation++
    this.isPaused = true
    for (const connection of this.#idle.splice(0)) this.#close(connection)
    for (const waiter of this.#waiting.splice(0)) waiter.reject(cleared(this.#to))
  }

  /**
   * @param timeoutMs null: no timeout
   * @throws NetworkFailure; the connection is broken then
   */
  async command(
    connection: Connection,
    body: Document,
    sequences: Sequences = [],
    timeoutMs = this.#parts.socketTimeoutMs,
  ): Promise<Document> {
    const { context } = this.#parts
    if (connection.unanswered !== null) await connection.unanswered
    connection.unanswered = null
    try {
      const command = this.#message(connection, body, sequences)
      const { body: reply } = await context.request(
        this.#to,
        'client.command',
        command,
        timeoutMs === null ? {} : { timeoutMs },
      )
      if (reply.length === noAnswer.length)
        throw new RequestFailedError('unreachable', this.#to, `connection to ${this.#to} closed`)
      return decode(reply, { promoteLongs: true })
    } catch (error) {
      throw error instanceof RequestFailedError ? networkFailure(error) : error
    }
  }

  commandUnanswered(connection: Connection, body: Document, sequences: Sequences): void {
    connection.unanswered = this.#parts.context
      .request(this.#to, 'client.command', this.#message(connection, body, sequences))
      .catch((error: unknown) => {
        if (!(error instanceof RequestFailedError)) throw error
      })
  }

  /**
   * The connection does not count for the pool's limit.
   * @throws NetworkFailure, CommandFailure
   */
  async handshake(): Promise<{ readonly connection: Connection; readonly hello: Document }> {
    const connection: Connection = { id: this.#parts.nextConnectionId(), generation: this.generation, unanswered: null }
    let hello: Document
    try {
      hello = await this.command(
        connection,
        { ismaster: 1, helloOk: true, client: this.#parts.metadata, $db: 'admin' },
        [],
        connectTimeoutMs,
      )
    } catch (error) {
      this.disconnect(connection)
      throw error instanceof NetworkFailure ? error.labelled(overloadLabels) : error
    }
    if (hello['ok'] === 1) return { connection, hello }
    this.disconnect(connection)
    throw new CommandFailure(codeOf(hello['code']), String(hello['errmsg']), labelsOf(hello), hello)
  }

  disconnect(connection: Connection): void {
    this.#parts.context.send(this.#to, 'client.disconnected', { connectionId: connection.id })
  }

  async #connect(): Promise<Connection> {
    this.#open++
    try {
      const { connection } = await this.handshake()
      await this.#logIn(connection)
      this.opened++
      if (connection.generation === this.generation) return connection
      this.disconnect(connection)
      throw cleared(this.#to)
    } catch (error) {
      this.#open--
      throw error
    }
  }

  async #logIn(connection: Connection): Promise<void> {
    const { login, context } = this.#parts
    if (login === null) return
    const means = simulatedMeans(() => context.random.bytes(nonceBytes))
    try {
      await logIn(
        (db, command) => this.command(connection, { ...command, $db: db }, [], connectTimeoutMs),
        login,
        means,
      )
    } catch (error) {
      this.disconnect(connection)
      if (!(error instanceof LoginError)) throw error
      const { code, message } = error
      throw new CommandFailure(code, message, [], { ok: 0, ...(code === null ? {} : { code }), errmsg: message })
    }
  }

  #close(connection: Connection): void {
    this.#open--
    this.disconnect(connection)
  }

  #message({ id }: Connection, body: Document, sequences: Sequences) {
    return {
      connectionId: id,
      body: encode(body),
      sequences,
      legacy: false,
      remote: `${this.#parts.context.address}:${id}`,
    }
  }
}

function networkFailure({ reason, message, undelivered }: RequestFailedError): NetworkFailure {
  return new NetworkFailure(message, { isTimeout: reason === 'timed-out', isUndelivered: undelivered })
}

/** The driver's own label: the pool was cleared while the operation waited for a connection. */
export const poolRequestedRetry = 'PoolRequestedRetry'

function cleared(to: Address): NetworkFailure {
  const message = `Connection pool for ${to} was cleared because another operation failed`
  return new NetworkFailure(message, { isTimeout: false, isUndelivered: true }, [poolRequestedRetry])
}
