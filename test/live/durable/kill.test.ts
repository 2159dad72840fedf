/**
 * `kill -9` of a durable cluster under sixteen writers, again and again on the same directory and
 * port. With SHARDLAB_LONG=1 two hundred times. SHARDLAB_SEED=7 draws the times of another run.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '@shardlab/actor'
import { MongoClient, type Collection } from 'mongodb'
import t from 'tap'
import { up, type RunningUp } from '../../support/up.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const kills = isLong ? 200 : 3
const writers = 16
const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const journaled = { writeConcern: { w: 1, j: true } } as const

interface Counter {
  readonly _id: number
  readonly n: number
}

/** Inserts documents and counts, one write after the other, until it is told to end. */
class Writer {
  readonly number: number
  readonly inserted: number[] = []
  /** Increments that were acknowledged. */
  counted = 0
  /** Increments whose outcome is unknown. */
  uncertain = 0
  readonly #items: Collection<{ writer: number; i: number }>
  readonly #counters: Collection<Counter>

  constructor(client: MongoClient, number: number) {
    this.number = number
    this.#items = client.db('shop').collection('items')
    this.#counters = client.db('shop').collection('counters')
  }

  async run(isOver: () => boolean): Promise<void> {
    for (let i = 0; !isOver(); i++) {
      try {
        await this.#items.insertOne({ writer: this.number, i }, journaled)
        this.inserted.push(i)
      } catch {
        // The driver has retried once: the cluster was killed again meanwhile.
      }
      try {
        await this.#counters.updateOne({ _id: this.number }, { $inc: { n: 1 } }, { upsert: true, ...journaled })
        this.counted++
      } catch {
        this.uncertain++
      }
    }
  }

  /** @returns what is wrong; empty: nothing */
  async check(): Promise<string[]> {
    const found = new Map<number, number>()
    for await (const { i } of this.#items.find({ writer: this.number })) found.set(i, (found.get(i) ?? 0) + 1)
    const lost = this.inserted.filter((i) => !found.has(i))
    const twice = [...found].filter(([, count]) => count > 1).map(([i]) => i)
    const { n = 0 } = (await this.#counters.findOne({ _id: this.number })) ?? {}
    return [
      ...(lost.length > 0 ? [`writer ${this.number} lost the inserts ${lost.join()}`] : []),
      ...(twice.length > 0 ? [`writer ${this.number} has the inserts ${twice.join()} twice`] : []),
      ...(n < this.counted || n > this.counted + this.uncertain
        ? [`writer ${this.number} counted ${this.counted} times, perhaps ${this.uncertain} more, and has ${n}`]
        : []),
    ]
  }
}

t.test(`after ${kills} kills, each journaled write is present once`, async (test) => {
  const random = createRandom(seed)
  const folder = await mkdtemp(join(tmpdir(), 'shardlab-kill-'))
  test.teardown(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  const start = () => up('--port', String(port), '--shards', '2', '--dbpath', join(folder, 'data'))
  let running = await start()
  test.teardown(() => running.process.kill('SIGKILL'))
  const client = await MongoClient.connect(running.ready.uri, { serverSelectionTimeoutMS: 60_000 })
  test.teardown(() => client.close())
  await client.db('admin').command({ shardCollection: 'shop.items', key: { writer: 'hashed' } })
  await client.db('admin').command({ shardCollection: 'shop.counters', key: { _id: 'hashed' } })
  const all = Array.from({ length: writers }, (_, number) => new Writer(client, number))
  let isOver = false
  test.teardown(() => void (isOver = true))
  const work = Promise.all(all.map((writer) => writer.run(() => isOver)))
  const acknowledged = () => all.reduce((sum, { inserted }) => sum + inserted.length, 0)
  for (let kill = 0; kill < kills; kill++) {
    const before = acknowledged()
    while (acknowledged() < before + writers) await sleep(5)
    await sleep(random.below(200))
    await end(running)
    running = await start()
  }
  isOver = true
  await work
  await end(running)
  running = await start()
  const wrong = (await Promise.all(all.map((writer) => writer.check()))).flat()
  const writes = acknowledged() + all.reduce((sum, { counted }) => sum + counted, 0)
  const uncertain = all.reduce((sum, each) => sum + each.uncertain, 0)
  test.same(wrong, [], `SHARDLAB_SEED=${seed}`)
  test.comment(`${writes} writes were acknowledged, ${uncertain} increments uncertain, ${kills} kills`)
  test.ok(writes >= kills * writers)
})

async function end({ process: child }: RunningUp): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/**
 * Below the ports that the system assigns: while the cluster is down, a connection of the driver
 * could take one of those.
 */
async function freePort(): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree && attempt < 100) continue
    server.close()
    return port
  }
}
