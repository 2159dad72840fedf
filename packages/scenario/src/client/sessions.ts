/** Drivers' specifications: Driver Sessions, Causal Consistency. */
import type { Random } from '@shardlab/actor'
import { Binary, Long, type Document, type Timestamp } from '@shardlab/bson'
import { ClientFailure } from './failures.js'
import { ClientTransaction } from './transactions.js'
import type { ClientSession, SessionOptions, TransactionOptions } from './types.js'

/** Used by one client session at a time. */
export interface ServerSession {
  readonly lsid: Document
  txnNumber: number
  lastUsedMs: number
  /**
   * A command failed by a network error: the server may still run it, so the session is not reused.
   */
  isDirty: boolean
}

/** Server sessions that would time out within this time are dropped. */
const marginMs = 60_000

/** The server session that was used last is taken first. */
export class SessionPool {
  readonly #random: Random
  readonly now: () => number
  readonly #idle: ServerSession[] = []

  constructor(random: Random, now: () => number) {
    this.#random = random
    this.now = now
  }

  acquire(timeoutMs: number): ServerSession {
    for (let session = this.#idle.pop(); session !== undefined; session = this.#idle.pop())
      if (!this.#isOld(session, timeoutMs)) return session
    return { lsid: { id: new Binary(this.#random.bytes(16), 4) }, txnNumber: 0, lastUsedMs: this.now(), isDirty: false }
  }

  release(session: ServerSession): void {
    if (!session.isDirty) this.#idle.push(session)
  }

  drain(): Document[] {
    return this.#idle.splice(0).map(({ lsid }) => lsid)
  }

  #isOld({ lastUsedMs }: ServerSession, timeoutMs: number): boolean {
    return this.now() - lastUsedMs > timeoutMs - marginMs
  }
}

/** {@link isExplicit}: created by the client's user. */
export class Session implements ClientSession {
  readonly isExplicit: boolean
  readonly isCausal: boolean
  readonly #pool: SessionPool
  readonly server: ServerSession
  operationTime: Timestamp | null = null
  /** null: the next command begins none. */
  transaction: ClientTransaction | null = null
  #ended = false

  constructor(
    pool: SessionPool,
    timeoutMs: number,
    isExplicit: boolean,
    { causalConsistency = isExplicit }: SessionOptions = {},
  ) {
    this.#pool = pool
    this.server = pool.acquire(timeoutMs)
    this.isExplicit = isExplicit
    this.isCausal = causalConsistency
  }

  get lsid(): Document {
    return this.server.lsid
  }

  now(): number {
    return this.#pool.now()
  }

  get ended(): boolean {
    return this.#ended
  }

  get inTransaction(): boolean {
    return this.transaction?.isActive === true
  }

  startTransaction(options: TransactionOptions = {}): void {
    if (this.inTransaction) throw new ClientFailure('Transaction already in progress')
    this.transaction = new ClientTransaction(this.nextTxnNumber(), options)
  }

  nextTxnNumber(): Long {
    return Long.fromNumber(++this.server.txnNumber)
  }

  learn(reply: Document): void {
    const time = reply['operationTime'] as Timestamp | undefined
    if (time !== undefined && (this.operationTime === null || time.greaterThan(this.operationTime)))
      this.operationTime = time
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#pool.release(this.server)
  }
}
