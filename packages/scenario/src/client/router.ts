/**
 * One mongos as the client sees it, and the monitor that watches it. Drivers' specification: Server Discovery and Monitoring, Server
 * Monitoring (streaming protocol, here as an awaitable hello that is repeated).
 */
import { createDeferred, type ActorContext, type Address } from '@shardlab/actor'
import { Long, type Document } from '@shardlab/bson'
import { ConnectionPool, type Connection, type PoolParts } from './connection-pool.js'
import { CommandFailure, NetworkFailure } from './failures.js'
import { codeOf, labelsOf } from './reply.js'
import { sleepOr } from './sleep-or.js'

export interface RouterParts extends PoolParts {
  readonly heartbeatMs: number
  /** Something is known of a mongos that was not known before. */
  readonly onChange: () => void
  readonly onHello: (hello: Document) => void
  readonly onCleared: () => void
}

/** A mongos is not asked more often than that for what it is. */
const minHeartbeatMs = 500
/** An answer to a `hello` that nobody holds back may take that long. */
const connectTimeoutMs = 30_000
/** Share of a new sample in the average. */
const newestWeight = 0.2

export class Router {
  readonly address: Address
  readonly pool: ConnectionPool
  readonly #parts: RouterParts
  readonly #context: ActorContext
  /** It has answered, and nothing bad has been heard of it since. */
  isKnown = false
  /** How long the server keeps an idle session, in ms; null: it has no sessions. */
  sessionTimeoutMs: number | null = null
  /** Average time to an answer. */
  roundTripMs = 0
  /** Commands that it works on for this client. */
  operations = 0
  #topologyVersion: Document | null = null
  #helloName = 'ismaster'
  #connection: Connection | null = null
  #lastCheckMs = Number.NEGATIVE_INFINITY
  /** Ends the pause between two checks; null: a check is under way. */
  #wake: (() => void) | null = null
  /** A check that is still under way when it changes is of no interest any more. */
  #life = 0
  #closed = false

  constructor(parts: RouterParts, address: Address) {
    this.address = address
    this.#parts = parts
    this.#context = parts.context
    this.pool = new ConnectionPool(parts, address)
  }

  /** Begins to watch it. */
  watch(): void {
    void this.#watch(this.#life)
  }

  close(): void {
    this.#closed = true
    this.isKnown = false
    this.#stop()
    this.pool.clear()
  }

  /** Somebody waits for it: it is asked as soon as it may be asked again. No effect while it is being asked. */
  requestCheck(): void {
    this.#wake?.()
  }

  /** It is not what it was. @param goes its connections are of no use any more */
  markUnknown(goes: boolean): void {
    if (goes) {
      this.pool.clear()
      this.#parts.onCleared()
    }
    this.isKnown = false
    this.#parts.onChange()
  }

  /** A connection to it broke: the monitor's is not to be trusted either. */
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
      // A mongos that holds the next hello back is asked at once.
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

  /** Until the next heartbeat, or until somebody asks for it. */
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
