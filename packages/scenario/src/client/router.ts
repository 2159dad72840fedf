/**
 * One mongos as the client sees it, with its monitor. Drivers' specifications: Server Discovery and
 * Monitoring; Server Monitoring (streaming protocol, here as a repeated awaitable hello).
 */
import { createDeferred, type ActorContext, type Address } from '@shardlab/actor'
import { Long, type Document } from '@shardlab/bson'
import { ConnectionPool, type Connection, type PoolParts } from './connection-pool.js'
import { CommandFailure, NetworkFailure } from './failures.js'
import { codeOf, labelsOf } from './reply.js'
import { sleepOr } from './sleep-or.js'

export interface RouterParts extends PoolParts {
  readonly heartbeatMs: number
  readonly onChange: () => void
  readonly onHello: (hello: Document) => void
  readonly onCleared: () => void
}

/** Between two checks. */
const minHeartbeatMs = 500
/** For a `hello` that the mongos does not hold open. */
const connectTimeoutMs = 30_000
/** Weight of a new sample in the average round trip. */
const newestWeight = 0.2

export class Router {
  readonly address: Address
  readonly pool: ConnectionPool
  readonly #parts: RouterParts
  readonly #context: ActorContext
  /** The mongos has replied, and no failure has been seen since. */
  isKnown = false
  /** How long the server keeps an idle session; null: no sessions. */
  sessionTimeoutMs: number | null = null
  roundTripMs = 0
  /** Commands in progress for this client. */
  operations = 0
  #topologyVersion: Document | null = null
  #helloName = 'ismaster'
  #connection: Connection | null = null
  #lastCheckMs = Number.NEGATIVE_INFINITY
  /** Ends the pause between two checks; null: a check is running. */
  #wake: (() => void) | null = null
  /** Changes when the state is reset: a running check is then ignored. */
  #life = 0
  #closed = false

  constructor(parts: RouterParts, address: Address) {
    this.address = address
    this.#parts = parts
    this.#context = parts.context
    this.pool = new ConnectionPool(parts, address)
  }

  watch(): void {
    void this.#watch(this.#life)
  }

  close(): void {
    this.#closed = true
    this.isKnown = false
    this.#stop()
    this.pool.clear()
  }

  /** As soon as allowed. No effect while a check is running. */
  requestCheck(): void {
    this.#wake?.()
  }

  /** @param goes its connections cannot be used again */
  markUnknown(goes: boolean): void {
    if (goes) {
      this.pool.clear()
      this.#parts.onCleared()
    }
    this.isKnown = false
    this.#parts.onChange()
  }

  /** A connection broke: discard the monitor's, too. */
  lost(): void {
    this.markUnknown(true)
    if (this.#topologyVersion === null || this.#closed) return
    this.#stop()
    this.#lastCheckMs = Number.NEGATIVE_INFINITY
    void this.#watchLater(this.#life)
  }

  #stop(): void {
    this.#life++
    this.#wake?.()
    this.#wake = null
    if (this.#connection !== null) this.pool.disconnect(this.#connection)
    this.#connection = null
  }

  async #watchLater(life: number): Promise<void> {
    await this.#pause(life)
    await this.#watch(life)
  }

  async #watch(life: number): Promise<void> {
    while (this.#life === life) {
      const isHeard = await this.#check(life)
      if (this.#life !== life) return
      this.#lastCheckMs = this.#context.now()
      // A mongos that supports awaitable hello is checked again at once.
      if (!isHeard || this.#topologyVersion === null) await this.#pause(life)
    }
  }

  async #check(life: number): Promise<boolean> {
    try {
      const hello = this.#connection === null ? await this.#connect(life) : await this.#hello(this.#connection)
      if (hello === null || this.#life !== life) return false
      if (hello['ok'] !== 1)
        throw new CommandFailure(codeOf(hello['code']), String(hello['errmsg']), labelsOf(hello), hello)
      this.#learn(hello)
      return true
    } catch (error) {
      if (!(error instanceof NetworkFailure || error instanceof CommandFailure)) throw error
      if (this.#life !== life) return false
      if (this.#connection !== null) this.pool.disconnect(this.#connection)
      this.#connection = null
      this.#topologyVersion = null
      this.markUnknown(true)
      return false
    }
  }

  async #connect(life: number): Promise<Document | null> {
    const beganMs = this.#context.now()
    const { connection, hello } = await this.pool.handshake()
    if (this.#life !== life) {
      this.pool.disconnect(connection)
      return null
    }
    this.#connection = connection
    this.#sample(this.#context.now() - beganMs)
    return hello
  }

  #hello(connection: Connection): Promise<Document> {
    const { heartbeatMs } = this.#parts
    const body = { [this.#helloName]: 1, $db: 'admin' }
    const topologyVersion = this.#topologyVersion
    if (topologyVersion === null) return this.#plainHello(connection, body)
    const awaitable = { ...body, topologyVersion, maxAwaitTimeMS: heartbeatMs }
    return this.pool.command(connection, awaitable, [], connectTimeoutMs + heartbeatMs)
  }

  async #plainHello(connection: Connection, body: Document): Promise<Document> {
    const beganMs = this.#context.now()
    const hello = await this.pool.command(connection, body, [], connectTimeoutMs)
    this.#sample(this.#context.now() - beganMs)
    return hello
  }

  #learn(hello: Document): void {
    const { topologyVersion, logicalSessionTimeoutMinutes, helloOk } = hello
    const { processId, counter } = (topologyVersion ?? {}) as Document
    this.#topologyVersion =
      topologyVersion === undefined ? null : { processId, counter: Long.fromNumber(Number(counter)) }
    this.sessionTimeoutMs = logicalSessionTimeoutMinutes === undefined ? null : logicalSessionTimeoutMinutes * 60_000
    if (helloOk === true) this.#helloName = 'hello'
    this.#parts.onHello(hello)
    const isNew = !this.isKnown
    this.isKnown = true
    this.pool.isPaused = false
    if (isNew) this.#parts.onChange()
  }

  #sample(ms: number): void {
    this.roundTripMs = this.roundTripMs === 0 ? ms : newestWeight * ms + (1 - newestWeight) * this.roundTripMs
  }

  async #pause(life: number): Promise<void> {
    const asked = createDeferred<void>()
    this.#wake = asked.resolve
    await sleepOr(this.#context, this.#parts.heartbeatMs, asked.promise)
    if (this.#life !== life) return
    this.#wake = null
    const leftMs = this.#lastCheckMs + minHeartbeatMs - this.#context.now()
    if (leftMs > 0) await this.#context.sleep(leftMs)
  }
}
