/**
 * Clients append to lists on several shards, and read them, in transactions and outside, while the
 * lists move.
 */
import type { Document } from '@shardlab/bson'
import { listAnomalies } from '../checkers/lists/anomalies.js'
import { isPermitted } from '../checkers/lists/anomaly.js'
import type { ListTransaction } from '../checkers/lists/history.js'
import { pick } from '../draw.js'
import { finding } from '../finding.js'
import { ListClient, listCount, listsNs, type ListHistoryWriter } from '../transactions/list-client.js'
import { Activity } from './activity.js'
import { cannotMove, codes } from './codes.js'

const clients = 3
const ns = `${listsNs.db}.${listsNs.collection}`
/** Of abandoned transactions: short, because clients wait for them. */
const lifetimeSeconds = 5
/** Limits a run whose clients are delayed for long. */
const movesMax = 60
/** Open transactions delay a move, up to a limit. */
const cannotMoveLists = [...cannotMove, codes.lockTimeout]

export class Transactions extends Activity implements ListHistoryWriter {
  readonly name = 'transactions'
  readonly transactions: ListTransaction[] = []
  #lastValue = 0
  /** Of the insert of the lists. */
  #inserted: Document = {}

  get appendsIncludeOrphans(): boolean {
    return this.world.behaviours.writesIncludeOrphans
  }

  nextValue(): number {
    return ++this.#lastValue
  }

  override count(name: string): void {
    super.count(name)
  }

  missing(sentence: string, key: number): void {
    this.world.verdicts.violated('transactions', finding(sentence, ns, key))
  }

  override async prepare(): Promise<void> {
    const admin = this.world.client('lists')
    const { cluster, sets } = this.world
    await admin.untilDone({ shardCollection: ns, key: { _id: 1 }, $db: 'admin' })
    for (let _id = 1; _id < listCount; _id++)
      await admin.untilDone({ split: ns, middle: { _id }, $db: 'admin' }, [undefined, codes.invalidOptions])
    for (let _id = 0; _id < listCount; _id++)
      await admin.untilDone(this.#moving(_id, cluster.shards[_id % cluster.shards.length]!), cannotMoveLists)
    const documents = Array.from({ length: listCount }, (_, _id) => ({ _id, values: [] }))
    const insert = { insert: listsNs.collection, documents, writeConcern: { w: 'majority' }, $db: listsNs.db }
    this.#inserted = (await admin.retryably(insert, [], null)).reply
    for (const member of cluster.shards.flatMap((shard) => sets.membersOf(shard)))
      await admin.once({ setParameter: 1, transactionLifetimeLimitSeconds: lifetimeSeconds, $db: 'admin' }, member)
  }

  async run(): Promise<void> {
    const { pace } = this.world
    await Promise.all([
      ...Array.from({ length: clients }, (_, i) => pace.during(() => this.#work(i + 1))),
      this.#moveLists(),
    ])
  }

  override async finish(): Promise<void> {
    const client = this.world.client('lists at the end')
    // Waits for transactions that still hold a list.
    for (let _id = 0; _id < listCount; _id++) {
      const updates = [{ q: { _id }, u: { $set: { isClosed: true } } }]
      await client.retryably({ update: listsNs.collection, updates, $db: listsNs.db }, [], null)
    }
    const found = await client.documentsOf({
      find: listsNs.collection,
      filter: {},
      readConcern: { level: 'majority' },
      $db: listsNs.db,
    })
    if (found === null) {
      this.world.verdicts.failed('convergence', 'no answer to a read of all lists')
      return
    }
    const final = new Map(found.map(({ _id, values }) => [_id as number, values as number[]]))
    for (const anomaly of listAnomalies({ transactions: this.transactions, final })) {
      this.count(anomaly.kind)
      if (isPermitted(anomaly)) continue
      const sentence = `${anomaly.kind}: ${anomaly.sentence}`
      this.world.verdicts.violated('transactions', finding(sentence, ns, ...new Set(anomaly.keys)))
    }
  }

  async #work(number: number): Promise<void> {
    const { plan, random: root } = this.world
    const random = root.fork(`lists ${number}`)
    const client = this.world.client(`lists ${number}`, true)
    const lists = new ListClient(number, client, random, this)
    lists.begin(this.#inserted)
    for (let i = 0; i < plan.stepsOfWorker; i++) {
      await lists.step()
      await client.pause(random.chance(1, 5) ? 400 : 30)
    }
  }

  async #moveLists(): Promise<void> {
    const { cluster, pace, random: root } = this.world
    const random = root.fork('lists move')
    const admin = this.world.client('lists move')
    for (let i = 0; i < movesMax && pace.isAnyClientWorking; i++) {
      await admin.pause(300)
      const answer = await admin.try(
        this.#moving(random.below(listCount), pick(random, cluster.shards)),
        cannotMoveLists,
      )
      if (answer?.code === null) this.count('list moved')
    }
  }

  #moving(_id: number, to: string): Document {
    return { moveChunk: ns, find: { _id }, to, $db: 'admin' }
  }
}
