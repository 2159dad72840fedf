/** A writer appends each number to two documents on two shards in a transaction. */
import type { Random } from '@shardlab/actor'
import { Binary, Long, type Document } from '@shardlab/bson'
import type { Run } from './cells.js'
import { endMs, FaultStory, onCluster } from './fault-story.js'
import { anomaliesOf, type ReadEvent } from './history.js'
import { transactionReaders, type TransactionAnomaly, type TransactionReader } from './transaction-cells.js'

/** Anomalies of each of the {@link transactionReaders}. */
export type PlayedTransactions = readonly (readonly TransactionAnomaly[])[]

export const playTransactions = (run: Run, seed: number): Promise<PlayedTransactions> =>
  onCluster(seed, async (cluster, random) => {
    const story = new TransactionStory(cluster, random)
    await story.prepare()
    return story.run(run)
  })

interface PairEvent extends ReadEvent {
  /** Of the two documents, without other copies. */
  readonly pair: readonly [readonly number[], readonly number[]]
}

const commitsMax = 5
const majority = { w: 'majority' } as const
const both = { x: { $in: [-1, 1] } } as const

class TransactionStory extends FaultStory {
  readonly #acknowledgedMs = new Map<number, number>()

  async prepare(): Promise<void> {
    await this.shardThings()
    const documents = [-1, 1].map((x) => ({ _id: x, x, writes: [] }))
    await this.must({ insert: 'things', documents, writeConcern: { w: 3 } })
  }

  async run({ writeConcern, fault }: Run): Promise<PlayedTransactions> {
    this.begin()
    const reads = transactionReaders.map((reader) => this.#read(reader, this.random.fork(JSON.stringify(reader))))
    const writing = this.#write(writeConcern === '1' ? 1 : 'majority', this.random.fork('writer'))
    await this.strike(fault)
    const events = await Promise.all(reads)
    await writing
    await this.settle()
    const end = eventOf(0, await this.try({ find: 'things', filter: both, readConcern: { level: 'majority' } }, 1))
    if (end === null || end.pair[0].join() !== end.pair[1].join())
      throw new Error(`a half of a transaction is there: ${JSON.stringify(end)}`)
    const history = { acknowledgedMs: this.#acknowledgedMs, kept: new Set(end.pair[0]) }
    return events.map((each) => {
      const found = new Set<TransactionAnomaly>(anomaliesOf(each, history))
      if (each.some(({ pair: [one, other] }) => one.join() !== other.join())) found.add('torn')
      return [...found].sort()
    })
  }

  async #write(w: 1 | 'majority', random: Random): Promise<void> {
    const session = this.#session(random)
    for (let write = 1; this.elapsedMs < endMs; write++) {
      const updates = [-1, 1].map((x) => ({ q: { x }, u: { $push: { writes: write } } }))
      session.start({})
      const reply = await session.run({ update: 'things', updates })
      if (reply?.['nModified'] !== 2) await session.end('abortTransaction', majority)
      else if (await this.#commit(session, { w, wtimeout: 1000 })) this.#acknowledgedMs.set(write, this.cluster.now())
      await this.cluster.advance(20 + random.below(150))
    }
  }

  /** @returns whether it was acknowledged */
  async #commit(session: StorySession, writeConcern: Document): Promise<boolean> {
    for (let attempt = 0; attempt < commitsMax; attempt++) {
      const reply = await session.end('commitTransaction', writeConcern)
      if (reply?.['ok'] === 1 && reply['writeConcernError'] === undefined) return true
      if (((reply?.['errorLabels'] ?? []) as string[]).includes('TransientTransactionError')) return false
      await this.cluster.advance(100)
    }
    return false
  }

  async #read({ readConcern, kind }: TransactionReader, random: Random): Promise<PairEvent[]> {
    const session = this.#session(random)
    const events: PairEvent[] = []
    while (this.elapsedMs < endMs) {
      const beganMs = this.cluster.now()
      const concern = { readConcern: { level: readConcern } }
      const find = { find: 'things', filter: both, maxTimeMS: 2000 }
      const event = eventOf(
        beganMs,
        kind === 'outside'
          ? await session.outside({ ...find, ...concern })
          : await this.#readIn(session, find, concern),
      )
      if (event !== null) events.push(event)
      await this.cluster.advance(20 + random.below(200))
    }
    return events
  }

  /** Null: it failed, or its transaction did not commit. */
  async #readIn(session: StorySession, find: Document, concern: Document): Promise<Document | null> {
    session.start(concern)
    const reply = await session.run(find)
    if (reply?.['ok'] !== 1) {
      await session.end('abortTransaction', majority)
      return null
    }
    return (await this.#commit(session, majority)) ? reply : null
  }

  #session(random: Random): StorySession {
    const connection = this.nextConnection()
    return new StorySession((command) => this.try(command, connection), new Binary(random.bytes(16), 4))
  }
}

class StorySession {
  readonly #send: (command: Document) => Promise<Document | null>
  readonly #id: Binary
  #txnNumber = 0
  #first: Document = {}

  constructor(send: (command: Document) => Promise<Document | null>, id: Binary) {
    this.#send = send
    this.#id = id
  }

  start(options: Document): void {
    this.#txnNumber++
    this.#first = { ...options, startTransaction: true }
  }

  run(command: Document): Promise<Document | null> {
    const first = this.#first
    this.#first = {}
    return this.#send({ ...command, ...this.#fields, ...first })
  }

  end(name: 'commitTransaction' | 'abortTransaction', writeConcern: Document): Promise<Document | null> {
    return this.#send({ [name]: 1, writeConcern, ...this.#fields, $db: 'admin' })
  }

  outside(command: Document): Promise<Document | null> {
    return this.#send(command)
  }

  get #fields(): Document {
    return { lsid: { id: this.#id }, txnNumber: Long.fromNumber(this.#txnNumber), autocommit: false }
  }
}

/** Null: the read failed. */
function eventOf(beganMs: number, reply: Document | null): PairEvent | null {
  if (reply?.['ok'] !== 1) return null
  const found = (reply['cursor'] as { firstBatch: { x: number; writes: number[] }[] }).firstBatch
  const of = (x: number): number[][] => found.filter((each) => each.x === x).map(({ writes }) => writes)
  const [one, other] = [of(-1), of(1)]
  // What both have, once; further copies are orphans.
  const union = [...new Set([...(one[0] ?? []), ...(other[0] ?? [])])]
  return { beganMs, copies: [union, ...one.slice(1), ...other.slice(1)], pair: [one[0] ?? [], other[0] ?? []] }
}
