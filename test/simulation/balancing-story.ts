/** A lopsided collection is balanced while clients write, and while something goes wrong; at the end everything is there once. */
import { createRandom, type Random } from '@shardlab/actor'
import { NotSettledError } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import { BalancedCluster, range } from './balanced-cluster.js'
import { Ledger, type Found } from './ledger.js'
import type { SimulatedClient } from './simulated-client.js'

export interface BalancingStory {
  readonly seed: number
  readonly emulate: EmulatedVersion
  /** Who crashes now and then; empty: nobody. */
  readonly victims: readonly string[]
}

export interface BalancingOutcome {
  /** What is wrong at the end, one sentence each. */
  readonly violations: readonly string[]
  readonly migrations: number
  readonly crashes: number
  readonly traceHash: string
}

const documents = 200
const workers = 4
const operations = 60
const spreadMs = 100

export async function playBalancing({ seed, emulate, victims }: BalancingStory): Promise<BalancingOutcome> {
  const world = await BalancedCluster.start({
    seed,
    emulate,
    shards: 3,
    mongos: 2,
    balancerRoundIntervalMs: 500,
    findReplicaSetHostTimeoutMs: 1000,
  })
  const random = createRandom(seed).fork('balancing')
  const ledger = new Ledger()
  let migrations = 0
  world.cluster.onEvent((event) => {
    if (event.type === 'migration' && event.stage === 'committed') migrations++
  })
  const ns = await world.shard('c')
  await world.insert('c', range(documents), 400, () => ({ n: 0 }))
  for (const key of range(documents)) ledger.inserted(key, true)
  let working = true
  const trouble = (async () => {
    let crashes = 0
    const dice = random.fork('trouble')
    while (working && victims.length > 0) {
      await world.cluster.advance(dice.fraction() * 800)
      const victim = victims[dice.below(victims.length)]!
      await world.cluster.crash(victim)
      crashes++
      await world.cluster.advance(dice.fraction() * 300)
      await world.cluster.restart(victim)
    }
    return crashes
  })()
  await Promise.all(range(workers).map((i) => work(world.client(`client ${i}`), ledger, random.fork(`work ${i}`), i)))
  working = false
  const crashes = await trouble
  const violations: string[] = []
  try {
    await world.cluster.balancer.settle({ rangeDeletion: true, timeoutMs: 3_600_000 })
  } catch (error) {
    if (!(error instanceof NotSettledError)) throw error
    violations.push(error.message)
  }
  violations.push(...ledger.violations('document', await contents(world.admin)), ...(await misplaced(world, ns)))
  const traceHash = world.cluster.traceHash()
  await world.stop()
  return { violations, migrations, crashes, traceHash }
}

/** Increments, inserts, deletes and finds; each worker has keys of its own. */
async function work(client: SimulatedClient, ledger: Ledger, random: Random, number: number): Promise<void> {
  const own = range(documents / workers).map((i) => i * workers + number)
  let nextKey = 10_000 + number * 10_000
  for (let i = 0; i < operations; i++) {
    const key = own[random.below(own.length)]!
    const choice = random.below(8)
    const write = (field: 'updates' | 'documents' | 'deletes', name: string, document: object) =>
      client.writeRetryably({ command: { [name]: 'c', $db: 'app' }, documents: [document], field })
    if (choice < 3) ledger.incremented(key, 1, (await write('updates', 'update', { q: { k: key }, u: { $inc: { n: 1 } } })).done[0]!)
    else if (choice < 6) {
      const added = nextKey++
      ledger.inserted(added, (await write('documents', 'insert', { _id: added, k: added, n: 0, pad: 'x'.repeat(350) })).done[0]!)
      own.push(added)
    } else if (choice < 7) {
      own.splice(own.indexOf(key), 1)
      ledger.deleted(key, (await write('deletes', 'delete', { q: { k: key }, limit: 1 })).done[0]!)
    } else await read(client, own)
    await client.pause(spreadMs)
  }
}

/** What the worker knows to be there it finds, once. */
async function read(client: SimulatedClient, own: readonly number[]): Promise<void> {
  const filter = { _id: { $in: own } }
  const reply = await client.once({ find: 'c', filter, projection: { _id: 1 }, sort: { _id: 1 }, batchSize: 1000, $db: 'app' })
  if (reply === null || reply['ok'] !== 1) return
  const found = (reply['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id)
  const expected = own.toSorted((a, b) => a - b)
  if (found.join() !== expected.join()) throw new Error(`find gave ${found.join()} where ${expected.join()} had been acknowledged`)
}

async function contents(admin: SimulatedClient): Promise<Map<number, Found>> {
  const { cursor } = await admin.untilDone({ find: 'c', filter: {}, projection: { n: 1 }, batchSize: 10_000, $db: 'app' })
  const found = new Map<number, Found>()
  for (const { _id, n } of cursor.firstBatch as { _id: number; n: number }[]) found.set(_id, { count: (found.get(_id)?.count ?? 0) + 1, n })
  return found
}

/** Each shard holds what it owns and nothing else. */
async function misplaced(world: BalancedCluster, ns: string): Promise<string[]> {
  const chunks = await world.chunks(ns)
  const ownerOf = (k: number) =>
    chunks.find(({ min, max }) => (typeof min.k !== 'number' || min.k <= k) && (typeof max.k !== 'number' || k < max.k))!['shard'] as string
  return (await world.placed('c')).flatMap((ids, i) =>
    ids.filter((id) => ownerOf(id) !== world.cluster.shards[i]).map((id) => `${world.cluster.shards[i]} keeps the orphan ${id}`),
  )
}
