/** Clients write and read while members crash and restart, from a seed. */
import { createRandom, type Random } from '@shardlab/actor'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { Ledger, type Found } from './ledger.js'
import { PatientClient, type Write, type WriteResult } from './patient-client.js'
import { CrashDriver } from './crash-driver.js'

export interface Outcome {
  readonly traceHash: string
  /** Lost, doubled or miscounted documents; empty: none. */
  readonly violations: readonly string[]
  /** Amounts of work, to detect runs in which nothing happened. */
  readonly crashes: number
  readonly acknowledged: number
  readonly unknown: number
}

const clients = 4
const operationsOfClient = 80
/** Documents that all clients increment. */
const sharedCounters = 5
const collections = ['hashed', 'ranged', 'plain'] as const
type CollectionName = (typeof collections)[number]

/** Plays one seed. */
export async function playSeed(seed: number): Promise<Outcome> {
  const cluster = await createSimulatedCluster({ seed, shards: 3, mongos: 2, findReplicaSetHostTimeoutMs: 1000 })
  const day = new Day(cluster, createRandom(seed).fork('workload'))
  const violations = await day.play()
  await cluster.stop()
  const { crashDriver, acknowledged, unknown } = day
  return { traceHash: cluster.traceHash(), violations, crashes: crashDriver.crashes, acknowledged, unknown }
}

class Day {
  acknowledged = 0
  unknown = 0
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #ledgers: Record<CollectionName | 'counters', Ledger> = {
    hashed: new Ledger(),
    ranged: new Ledger(),
    plain: new Ledger(),
    counters: new Ledger(),
  }
  readonly crashDriver: CrashDriver

  constructor(cluster: SimulatedCluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
    this.crashDriver = new CrashDriver(cluster, random, clients)
  }

  async play(): Promise<string[]> {
    await this.#prepare()
    const work = Array.from({ length: clients }, (_, i) =>
      this.#client(i + 1).finally(() => this.crashDriver.clientDone()),
    )
    await Promise.all([...work, this.crashDriver.run(), this.#administer()])
    return this.#violations()
  }

  async #prepare(): Promise<void> {
    const client = new PatientClient(this.#cluster, this.#random.fork('preparation'))
    await client.untilDone({ shardCollection: 'app.hashed', key: { _id: 'hashed' }, $db: 'admin' })
    await client.untilDone({ shardCollection: 'app.counters', key: { _id: 'hashed' }, $db: 'admin' })
    await client.untilDone({ shardCollection: 'app.ranged', key: { k: 1 }, $db: 'admin' })
    const counters = Array.from({ length: sharedCounters }, (_, i) => ({ _id: i, n: 0 }))
    await client.writeRetryably({
      command: { insert: 'counters', $db: 'app' },
      documents: counters,
      field: 'documents',
    })
    for (const { _id } of counters) this.#ledgers.counters.inserted(_id, true)
  }

  async #client(number: number): Promise<void> {
    const random = this.#random.fork(`client ${number}`)
    const client = new PatientClient(this.#cluster, random.fork('session'), () => this.crashDriver.sent())
    let nextKey = number * 10_000
    const newKeys = (count: number) => Array.from({ length: count }, () => nextKey++)
    // Each client writes documents of its own, whose contents it can predict, and counters that all
    // share.
    const own: Record<CollectionName, number[]> = { hashed: [], ranged: [], plain: [] }
    for (let i = 0; i < operationsOfClient; i++) {
      const ns = collections[random.below(collections.length)]!
      const retryable = random.chance(2, 3)
      const send = (write: Write) => (retryable ? client.writeRetryably(write) : client.write(write))
      const choice = random.below(10)
      if (choice < 4 || own[ns].length === 0) {
        const keys = newKeys(random.chance(1, 2) ? 1 : 2 + random.below(6))
        const command = { insert: ns, ordered: random.chance(1, 2), $db: 'app' }
        const { done } = this.#count(
          await send({ command, documents: keys.map((key) => ({ _id: key, k: key, n: 0 })), field: 'documents' }),
        )
        keys.forEach((key, i) => this.#ledgers[ns].inserted(key, done[i]!))
        own[ns].push(...keys.filter((_, i) => done[i]))
      } else if (choice < 7) {
        const keys = random.shuffled(own[ns]).slice(0, 1 + random.below(3))
        await this.#increment(ns, keys, 1 + random.below(9), random.chance(1, 2), send)
      } else if (choice < 8) {
        await this.#increment('counters', [random.below(sharedCounters)], 1, true, send)
      } else if (choice < 9) {
        const key = own[ns].splice(random.below(own[ns].length), 1)[0]!
        const { done } = this.#count(
          await send({
            command: { delete: ns, $db: 'app' },
            documents: [{ q: { _id: key, k: key }, limit: 1 }],
            field: 'deletes',
          }),
        )
        this.#ledgers[ns].deleted(key, done[0]!)
      } else {
        await this.#read(client, ns, own[ns])
      }
      await client.pause(random.chance(1, 20) ? 200 : 2)
    }
  }

  async #increment(
    ns: CollectionName | 'counters',
    keys: readonly number[],
    by: number,
    ordered: boolean,
    send: (write: Write) => Promise<WriteResult>,
  ): Promise<void> {
    const updates = keys.map((key) => ({
      q: ns === 'counters' ? { _id: key } : { _id: key, k: key },
      u: { $inc: { n: by } },
    }))
    const { done } = this.#count(
      await send({ command: { update: ns, ordered, $db: 'app' }, documents: updates, field: 'updates' }),
    )
    keys.forEach((key, i) => this.#ledgers[ns].incremented(key, by, done[i]!))
  }

  /** Documents that certainly exist must be found. */
  async #read(client: PatientClient, ns: CollectionName, keys: readonly number[]): Promise<void> {
    const reply = await client.once({
      find: ns,
      filter: { _id: { $in: keys } },
      projection: { _id: 1 },
      sort: { _id: 1 },
      batchSize: 1000,
      $db: 'app',
    })
    if (reply === null || reply['ok'] !== 1) return
    const found = (reply['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id)
    const expected = keys.toSorted((a, b) => a - b)
    if (found.join() !== expected.join())
      throw new Error(`find in ${ns} gave ${found.join()} where ${expected.join()} had been acknowledged`)
  }

  /** Metadata changes at intervals, each repeated until it succeeds. */
  async #administer(): Promise<void> {
    const random = this.#random.fork('administration')
    const client = new PatientClient(this.#cluster, random.fork('session'))
    for (let i = 0; this.crashDriver.clientsAtWork; i++) {
      await client.pause(800)
      const ns = `short${i}`
      await client.untilDone({ shardCollection: `other.${ns}`, key: { _id: 'hashed' }, $db: 'admin' })
      await client.untilDone({ createIndexes: ns, indexes: [{ key: { a: 1 }, name: 'a_1' }], $db: 'other' })
      const { done } = await client.writeRetryably({
        command: { insert: ns, $db: 'other' },
        documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }],
        field: 'documents',
      })
      const { n } = await client.untilDone({ count: ns, query: {}, $db: 'other' })
      if (n !== done.length) throw new Error(`a fresh collection holds ${n} of ${done.length} documents`)
      if (random.chance(1, 2)) await client.untilDone({ drop: ns, $db: 'other' })
      if (random.chance(1, 4)) await client.untilDone({ dropDatabase: 1, $db: 'other' })
    }
  }

  async #violations(): Promise<string[]> {
    const client = new PatientClient(this.#cluster, this.#random.fork('inspection'))
    const wrong: string[] = []
    for (const [ns, ledger] of Object.entries(this.#ledgers)) {
      const { cursor } = await client.untilDone({ find: ns, filter: {}, batchSize: 10_000, $db: 'app' })
      const contents = new Map<number, Found>()
      for (const { _id, n } of cursor.firstBatch as { _id: number; n: number }[])
        contents.set(_id, { count: (contents.get(_id)?.count ?? 0) + 1, n })
      wrong.push(...ledger.violations(ns, contents))
    }
    return wrong
  }

  #count(result: WriteResult): WriteResult {
    for (const done of result.done) {
      if (done) this.acknowledged++
      else this.unknown++
    }
    return result
  }
}
