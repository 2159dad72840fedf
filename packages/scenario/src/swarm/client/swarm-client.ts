/**
 * A client of a cluster in which everything moves: it repeats commands that transient errors end.
 * Unlike a driver it never stops retrying, so an acknowledged command was certainly executed once.
 */
import type { Random } from '@shardlab/actor'
import { Binary, Long, type Document } from '@shardlab/bson'
import { cursorId, isNoCursor } from '../../client/reply.js'
import { errorsOf, isPassing, nameOf, WrongAnswerError, type Code } from './errors.js'
import type { Reply, SwarmPort } from './port.js'

/** Repetitions of a command, each after up to 50 ms. */
const attemptsMax = 4000

/** A repeated statement was executed as a transaction. */
export const transactionHistoryIncomplete = 217
/**
 * The cursor's router or collection is gone: 43 CursorNotFound, 175 QueryPlanKilled, 237
 * CursorKilled.
 */
const readsThatEnd = [43, 175, 237]
/**
 * Until 4.0 also a getMore whose collection has left the shard: 96 OperationFailed, in 2.6 17356.
 */
const batchesThatEnd = [...readsThatEnd, 96, 17_356]

export interface AnsweredCommand {
  readonly reply: Document
  /** The expected error that ended the command; null: success. */
  readonly code: Code | null
  readonly attempts: number
}

/** Of reads that wait for a majority, which faults may prevent. */
export const readTimeMs = 6000

export class SwarmClient {
  protected readonly random: Random
  readonly #port: SwarmPort
  readonly #lsid: Document
  readonly #onSend: () => void
  #txnNumber = 0

  constructor(port: SwarmPort, random: Random, onSend: () => void = () => {}) {
    this.#port = port
    this.random = random
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
    this.#onSend = onSend
  }

  anyRouter(): string {
    const { routers } = this.#port
    return routers[this.random.below(routers.length)]!
  }

  wait(ms: number): Promise<void> {
    return this.#port.wait(ms)
  }

  /** Waits for a random time up to `mostMs`. */
  pause(mostMs: number): Promise<void> {
    return this.wait(this.random.fraction() * mostMs)
  }

  /** `to` null: with a driver's retry. */
  once(command: Document, to: string | null = this.anyRouter()): Promise<Reply> {
    this.#onSend()
    return this.#port.run(command, to)
  }

  /**
   * `to` null: with a driver's retry. `settled`: error codes that count as answers.
   * @returns null: the outcome is unknown
   * @throws WrongAnswerError for any other error
   */
  async try(command: Document, settled: readonly Code[] = [], to?: string | null): Promise<AnsweredCommand | null> {
    const reply = await this.once(command, to)
    if (reply === null) return null
    const errors = errorsOf(reply)
    const answer = errors.find(({ code }) => settled.includes(code as Code))
    if (answer !== undefined) return { reply, code: answer['code'] as Code, attempts: 1 }
    for (const error of errors)
      if (!isPassing(error))
        throw new WrongAnswerError(command, `${nameOf(command)} failed with ${error['code']} ${error['errmsg']}`)
    return errors.length > 0 ? null : { reply, code: null, attempts: 1 }
  }

  /** @throws WrongAnswerError if a transient error never goes away */
  async untilDone(command: Document, settled: readonly Code[] = []): Promise<AnsweredCommand> {
    let last: AnsweredCommand | null = null
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      last = await this.try(command, settled)
      if (last !== null) return { ...last, attempts: attempt }
      await this.pause(50)
    }
    throw new WrongAnswerError(
      command,
      `${nameOf(command)} did not get through: ${JSON.stringify(await this.once(command))}`,
    )
  }

  /**
   * Uses a statement number, so that repetitions have no effect. Occasionally repeats a successful
   * command, which must give the same `did`; `did` null: never.
   */
  async retryably(
    command: Document,
    settled: readonly Code[],
    did: ((reply: Document) => number | string | null) | null,
  ): Promise<AnsweredCommand> {
    const numbered = { ...command, lsid: this.#lsid, txnNumber: Long.fromNumber(++this.#txnNumber) }
    const first = await this.untilDone(numbered, settled)
    if (did === null || first.code !== null || did(first.reply) === null || !this.random.chance(1, 4)) return first
    // A document that moved was moved in a transaction, which a repeated statement reports.
    const again = await this.untilDone(numbered, [...settled, transactionHistoryIncomplete])
    if (again.code === null && did(again.reply) !== did(first.reply))
      throw new WrongAnswerError(
        command,
        `a repeated ${nameOf(command)} did ${did(again.reply)} where it did ${did(first.reply)} before`,
      )
    return first
  }

  /** null: interrupted. */
  async documentsOf(command: Document, to = this.anyRouter()): Promise<Document[] | null> {
    const first = await this.try(command, readsThatEnd, to)
    if (first === null || first.code !== null) return null
    const { cursor } = first.reply
    const documents = [...(cursor.firstBatch as Document[])]
    const ns = cursor.ns as string
    let id = cursor.id as unknown
    while (!isNoCursor(id)) {
      await this.pause(3)
      const collection = ns.slice(ns.indexOf('.') + 1)
      const more = await this.try(
        { getMore: cursorId(id), collection, batchSize: command['batchSize'] ?? 3, $db: command['$db'] },
        batchesThatEnd,
        to,
      )
      if (more === null || more.code !== null) return null
      documents.push(...(more.reply['cursor'].nextBatch as Document[]))
      id = more.reply['cursor'].id
    }
    return documents
  }
}
