/**
 * A client of a cluster in which everything moves: what it may hear that is no answer, what it repeats, and what it makes of a reply.
 */
import { RequestFailedError, type Random } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'

/**
 * Errors that say that something is in the way for a while: a member that is away (6, 133, 91, 11600, and 65 for several of them), routing
 * that changes faster than it is looked up (82, 13388), documents and databases that are being moved (112, 319), collections that go away
 * under an operation (175), and those of operations that exclude each other (46, 117).
 */
const passing: ReadonlySet<number> = new Set([6, 46, 65, 82, 91, 112, 117, 133, 175, 319, 11_600, 13_388])

/** Longest time that a command is repeated, in attempts of up to 50 ms. */
const attemptsMax = 4000

/** Of an error; some have none. */
export type Code = number | undefined

export interface AnsweredCommand {
  readonly reply: Document
  /** The error that ended it and that the caller had asked for; null: it was done. */
  readonly code: Code | null
  /** How often it was sent until then. */
  readonly attempts: number
}

export class StoryClient {
  readonly #cluster: SimulatedCluster
  readonly #connectionId: number
  readonly #random: Random
  readonly #lsid: Document
  readonly #onSend: () => void
  #txnNumber = 0

  /** `onSend` is called with every command that leaves. */
  constructor(cluster: SimulatedCluster, connectionId: number, random: Random, onSend: () => void = () => {}) {
    this.#cluster = cluster
    this.#connectionId = connectionId
    this.#random = random
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
    this.#onSend = onSend
  }

  anyRouter(): string {
    return this.#cluster.mongos[this.#random.below(this.#cluster.mongos.length)]!
  }

  /** Sends a command once; null: the member went away. */
  async once(command: Document, to = this.anyRouter()): Promise<Document | null> {
    this.#onSend()
    try {
      return decode(await this.#cluster.command(encode(command), { to, connectionId: this.#connectionId }), { promoteLongs: true })
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }

  /**
   * Sends a command once. Null: nobody knows what it did. `settled` are the codes of errors that are answers.
   * @throws Error for any other error
   */
  async try(command: Document, settled: readonly Code[] = [], to?: string): Promise<AnsweredCommand | null> {
    const reply = await this.once(command, to)
    if (reply === null) return null
    const errors = errorsOf(reply)
    const answer = errors.find(({ code }) => settled.includes(code as Code))
    if (answer !== undefined) return { reply, code: answer['code'] as Code, attempts: 1 }
    for (const error of errors) mustBePassing(error, command)
    return errors.length > 0 ? null : { reply, code: null, attempts: 1 }
  }

  /** Repeats a command until nothing is in its way. */
  async untilDone(command: Document, settled: readonly Code[] = []): Promise<AnsweredCommand> {
    let last: AnsweredCommand | null = null
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      last = await this.try(command, settled)
      if (last !== null) return { ...last, attempts: attempt }
      await this.pause(50)
    }
    throw new Error(`${nameOf(command)} did not get through: ${JSON.stringify(await this.once(command))}`)
  }

  /**
   * The same with a statement number, by which repeating it does nothing more. Now and then it is repeated for nothing, and must have done
   * the same as `did` tells; null for `did`: not that.
   */
  async retryably(
    command: Document,
    settled: readonly Code[],
    did: ((reply: Document) => number | string | null) | null,
  ): Promise<AnsweredCommand> {
    const numbered = { ...command, lsid: this.#lsid, txnNumber: Long.fromNumber(++this.#txnNumber) }
    const first = await this.untilDone(numbered, settled)
    if (did === null || first.code !== null || did(first.reply) === null || !this.#random.chance(1, 4)) return first
    // A document that has moved was moved in a transaction, of which a repeated statement hears.
    const again = await this.untilDone(numbered, [...settled, transactionHistoryIncomplete])
    if (again.code === null && did(again.reply) !== did(first.reply))
      throw new Error(`a repeated ${nameOf(command)} did ${did(again.reply)} where it did ${did(first.reply)} before`)
    return first
  }

  /** All documents of a find or aggregate; null: something went away in between. */
  async documentsOf(command: Document): Promise<Document[] | null> {
    const to = this.anyRouter()
    const first = await this.try(command, readsThatEnd, to)
    if (first === null || first.code !== null) return null
    const { cursor } = first.reply
    const documents = [...(cursor.firstBatch as Document[])]
    const ns = cursor.ns as string
    let id = cursor.id as unknown
    while (!isZero(id)) {
      await this.pause(3)
      const collection = ns.slice(ns.indexOf('.') + 1)
      const more = await this.try(
        { getMore: asLong(id), collection, batchSize: command['batchSize'] ?? 3, $db: command['$db'] },
        readsThatEnd,
        to,
      )
      if (more === null || more.code !== null) return null
      documents.push(...(more.reply['cursor'].nextBatch as Document[]))
      id = more.reply['cursor'].id
    }
    return documents
  }

  /** Waits up to that many milliseconds. */
  pause(mostMs: number): Promise<void> {
    return this.#cluster.advance(this.#random.fraction() * mostMs)
  }
}

/** A repeated statement that was carried out as a transaction. */
export const transactionHistoryIncomplete = 217
/** A cursor that went with its router or its collection: 43 CursorNotFound, 175 QueryPlanKilled, 237 CursorKilled. */
const readsThatEnd = [43, 175, 237]

/** Every error in a reply: its own, those of statements, those of single shards. */
export function errorsOf(reply: Document): Document[] {
  const ofShards = (Object.values(reply['raw'] ?? {}) as Document[]).filter(({ ok }) => ok === 0)
  const ofStatements = (reply['writeErrors'] as Document[] | undefined) ?? []
  const ofBulk = ((reply['cursor']?.firstBatch as Document[] | undefined) ?? []).filter(({ ok, code }) => ok === 0 && code !== undefined)
  return [...(reply['ok'] === 1 ? [] : [reply]), ...ofStatements, ...ofBulk, ...ofShards]
}

function mustBePassing({ code, errmsg }: Document, command: Document): void {
  if (!passing.has(code as number) && !String(errmsg).includes('was made to fail'))
    throw new Error(`${nameOf(command)} failed with ${code} ${errmsg}`)
}

function nameOf(command: Document): string {
  return JSON.stringify(command, (key, value: unknown) => (key === 'lsid' ? undefined : value)).slice(0, 200)
}

const isZero = (id: unknown): boolean => id === 0 || id === 0n || (id instanceof Long && id.isZero())

const asLong = (id: unknown): unknown => (typeof id === 'number' ? Long.fromNumber(id) : id)
