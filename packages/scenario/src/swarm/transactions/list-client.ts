/** Appends to lists and reads them, in transactions and outside, and notes the history. */
import { Binary, type Document } from '@shardlab/bson'
import type { Random } from '@shardlab/actor'
import type { ListOperation, ListTransaction } from '../checkers/lists/history.js'
import { readTimeMs, type SwarmClient } from '../client/swarm-client.js'
import { pick } from '../draw.js'
import { TransactionSession, type TransactionReadConcern } from './transaction-session.js'

export const listsNs = { db: 'app', collection: 'lists' } as const
export const listCount = 6
const $db = listsNs.db
const statementsMax = 4

export interface ListHistoryWriter {
  readonly transactions: ListTransaction[]
  /** Of the version: updates with several keys also change and count copies on former owners. */
  readonly appendsIncludeOrphans: boolean
  nextValue(): number
  count(name: string): void
  /** A list was not found. */
  missing(sentence: string, key: number): void
}

type Rest = Omit<ListTransaction, 'name' | 'session'>

export class ListClient {
  readonly #number: number
  readonly #client: SwarmClient
  readonly #random: Random
  readonly #session: TransactionSession
  readonly #history: ListHistoryWriter
  #transactions = 0

  constructor(number: number, client: SwarmClient, random: Random, history: ListHistoryWriter) {
    this.#number = number
    this.#client = client
    this.#random = random
    this.#history = history
    this.#session = new TransactionSession(client, { id: new Binary(random.bytes(16), 4) })
  }

  /** Reads see what the reply shows. */
  begin(reply: Document): void {
    this.#session.learn(reply)
  }

  async step(): Promise<void> {
    const choice = this.#random.below(10)
    if (choice < 7) await this.#transaction()
    else if (choice < 8) await this.#readOutside()
    else await this.#appendOutside()
  }

  async #transaction(): Promise<void> {
    const level = pick<TransactionReadConcern>(this.#random, ['snapshot', 'snapshot', 'snapshot', 'majority', 'local'])
    this.#session.start(level)
    const operations: ListOperation[] = []
    const statements = 1 + this.#random.below(statementsMax)
    const at = this.#begin()
    for (let i = 0; i < statements; i++) {
      const done = await this.#statement(operations)
      if (!done) return this.#abort(at, operations, level)
      await this.#client.pause(10)
    }
    if (this.#random.chance(1, 12)) return this.#abort(at, operations, level)
    const outcome = await this.#session.commit()
    this.#note(at, { outcome, isSnapshot: level === 'snapshot', operations })
    this.#history.count(`transaction ${outcome}`)
  }

  async #abort(at: number, operations: readonly ListOperation[], level: TransactionReadConcern): Promise<void> {
    if (this.#random.chance(4, 5)) await this.#session.abort()
    this.#note(at, { outcome: 'aborted', isSnapshot: level === 'snapshot', operations })
    this.#history.count('transaction aborted')
  }

  /** @returns whether it succeeded */
  async #statement(operations: ListOperation[]): Promise<boolean> {
    const choice = this.#random.below(10)
    if (choice < 3) return this.#read(operations, this.#keys(1))
    if (choice < 5) return this.#read(operations, this.#keys(2 + this.#random.below(2)))
    if (choice < 8) return this.#append(operations, this.#keys(1))
    if (choice < 9) return this.#append(operations, this.#keys(2))
    return this.#readAndAppend(operations)
  }

  async #read(operations: ListOperation[], keys: readonly number[]): Promise<boolean> {
    const find = { find: listsNs.collection, filter: filterOf(keys), $db }
    const pipeline = [{ $match: filterOf(keys) }]
    const isFind = this.#random.chance(2, 3)
    const aggregate = { aggregate: listsNs.collection, pipeline, cursor: {}, $db }
    const reply = await this.#session.run(isFind ? find : aggregate)
    if (reply === null) return false
    this.#noteRead(operations, keys, reply)
    return true
  }

  async #append(operations: ListOperation[], keys: readonly number[]): Promise<boolean> {
    const value = this.#history.nextValue()
    const statement = { q: filterOf(keys), u: { $push: { values: value } }, multi: keys.length > 1 }
    for (const key of keys) operations.push({ kind: 'append', key, value })
    const reply = await this.#session.run({ update: listsNs.collection, updates: [statement], $db })
    if (reply === null) return false
    const n = reply['n'] as number
    this.#checkCount(this.#history.appendsIncludeOrphans ? Math.min(n, keys.length) : n, keys)
    return true
  }

  async #readAndAppend(operations: ListOperation[]): Promise<boolean> {
    const [key] = this.#keys(1) as [number]
    const value = this.#history.nextValue()
    const query = { _id: key }
    const reply = await this.#session.run({
      findAndModify: listsNs.collection,
      query,
      update: { $push: { values: value } },
      $db,
    })
    if (reply === null) {
      operations.push({ kind: 'append', key, value })
      return false
    }
    const before = reply['value'] as Document | null
    this.#checkCount(before === null ? 0 : 1, [key])
    operations.push({ kind: 'read', key, values: before?.['values'] ?? [] }, { kind: 'append', key, value })
    return true
  }

  /** Each shard answers for a time of its own, unless the read has the concern snapshot. */
  async #readOutside(): Promise<void> {
    const keys = this.#keys(1 + this.#random.below(3))
    const at = this.#begin()
    const found = await this.#client.try(
      {
        find: listsNs.collection,
        filter: filterOf(keys),
        readConcern: this.#session.readConcern('majority'),
        maxTimeMS: readTimeMs,
        ...this.#session.gossip,
        $db,
      },
      [],
    )
    const operations: ListOperation[] = []
    if (found !== null) {
      this.#session.learn(found.reply)
      this.#noteRead(operations, keys, found.reply)
      this.#history.count('read outside')
    }
    this.#note(at, { outcome: 'committed', isSnapshot: false, operations })
  }

  async #appendOutside(): Promise<void> {
    const [key] = this.#keys(1) as [number]
    const value = this.#history.nextValue()
    const at = this.#begin({ outcome: 'unknown', isSnapshot: false, operations: [{ kind: 'append', key, value }] })
    const updates = [{ q: { _id: key }, u: { $push: { values: value } } }]
    const command = { update: listsNs.collection, updates, writeConcern: { w: 'majority' }, $db }
    const { reply } = await this.#client.retryably(command, [], ({ n }) => n as number)
    this.#session.learn(reply)
    this.#checkCount(reply['n'] as number, [key])
    this.#note(at, { outcome: 'committed', isSnapshot: false, operations: [{ kind: 'append', key, value }] })
    this.#history.count('append outside')
  }

  #keys(count: number): readonly number[] {
    return this.#random.shuffled(Array.from({ length: listCount }, (_, key) => key)).slice(0, count)
  }

  #noteRead(operations: ListOperation[], keys: readonly number[], reply: Document): void {
    const batch = (reply['cursor'] as Document)['firstBatch'] as readonly { _id: number; values: number[] }[]
    this.#checkCount(batch.length, keys)
    for (const { _id: key, values } of batch) operations.push({ kind: 'read', key, values })
  }

  #checkCount(count: number, keys: readonly number[]): void {
    if (count === keys.length) return
    const what = `${count} of the lists ${keys.join(', ')} were found by client ${this.#number}`
    this.#history.missing(what, keys[0]!)
  }

  /** @returns its place in the history: it may take effect from now on */
  #begin(rest: Rest = { outcome: 'aborted', isSnapshot: false, operations: [] }): number {
    return this.#history.transactions.push(this.#named(++this.#transactions, rest)) - 1
  }

  #note(at: number, rest: Rest): void {
    this.#history.transactions[at] = this.#named(this.#transactions, rest)
  }

  #named(transaction: number, rest: Rest): ListTransaction {
    return { name: `T${this.#number}.${transaction}`, session: this.#number, ...rest }
  }
}

function filterOf(keys: readonly number[]): Document {
  return { _id: keys.length === 1 ? keys[0]! : { $in: keys } }
}
