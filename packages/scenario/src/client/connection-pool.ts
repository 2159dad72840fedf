/**
 * Connections to one mongos. Drivers' specification: Connection Monitoring and Pooling. A connection is a number that the mongos knows the
 * client by; the commands on it follow each other.
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
import { CommandFailure, NetworkFailure } from './failures.js'
import { codeOf, labelsOf } from './reply.js'
import { overloadLabels, type Sequences } from './retry-rules.js'

export interface Connection {
  readonly id: number
  /** That of its pool when it was opened. */
  readonly generation: number
  /** The last command on it, when nobody waits for its answer: the mongos takes what comes behind it when it is done. */
  unanswered: Promise<unknown> | null
}

/** What all pools of a client share. */
export interface PoolParts {
  readonly context: ActorContext
  /** Goes with each handshake. */
  readonly metadata: Document
  /** Numbers that no other client's connections have. */
  readonly nextConnectionId: () => number
  /** More connections are not open to one mongos at a time; further commands wait. */
  readonly maxPoolSize: number
  readonly socketTimeoutMs: number | null
}

/** How long a handshake may take. */
const connectTimeoutMs = 30_000

export class ConnectionPool {
  readonly #parts: PoolParts
  readonly #to: Address
  readonly #idle: Connection[] = []
  #waiting: Deferred<Connection>[] = []
  #open = 0
  generation = 0
  /** Nothing is handed out before the mongos has been heard of. */
  isPaused = true
  opened = 0

  constructor(parts: PoolParts, to: Address) {
    this.#parts = parts
    this.#to = to
  }

  /** @throws NetworkFailure, CommandFailure of the handshake; NetworkFailure `cleared` when the pool was cleared */
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

  /** @param isBroken nothing more can be sent on it */
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

  /** The mongos is not what it was, or has not been heard of: no connection to it is used again. */
  clear(): void {
    this.generation++
    this.isPaused = true
    for (const connection of this.#idle.splice(0)) this.#close(connection)
    for (const waiter of this.#waiting.splice(0)) waiter.reject(cleared(this.#to))
  }

  /**
   * Sends a command. `timeoutMs` null: it may take as long as it likes.
   * @throws NetworkFailure the connection is broken then
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

  /** Sends a command for whose answer nobody waits. */
  commandUnanswered(connection: Connection, body: Document, sequences: Sequences): void {
    connection.unanswered = this.#parts.context
      .request(this.#to, 'client.command', this.#message(connection, body, sequences))
      .catch((error: unknown) => {
        if (!(error instanceof RequestFailedError)) throw error
      })
  }

  /**
   * A connection with its handshake, outside of what the pool counts.
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

  /** Tells the mongos that the connection is no more. */
  disconnect(connection: Connection): void {
    this.#parts.context.send(this.#to, 'client.disconnected', { connectionId: connection.id })
  }

  async #connect(): Promise<Connection> {
    this.#open++
    try {
      const { connection } = await this.handshake()
      this.opened++
      if (connection.generation === this.generation) return connection
      this.disconnect(connection)
      throw cleared(this.#to)
    } catch (error) {
      this.#open--
      throw error
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

/** Of the driver's own: a connection could not be had because others found the mongos gone. */
export const poolRequestedRetry = 'PoolRequestedRetry'

function cleared(to: Address): NetworkFailure {
  const message = `Connection pool for ${to} was cleared because another operation failed`
  return new NetworkFailure(message, { isTimeout: false, isUndelivered: true }, [poolRequestedRetry])
}
