/**
 * An unbalanced collection is balanced while clients write and members crash; at the end every
 * document is there once.
 */
import { createRandom, type Random } from '@shardlab/actor'
import { NotSettledError, type ClusterEvent } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import { BalancedCluster, range } from './balanced-cluster.js'
import { Ledger } from './ledger.js'
import { contents, LedgerWorker } from './ledger-worker.js'
import type { PatientClient } from './patient-client.js'

export interface BalancingStory {
  readonly seed: number
  readonly emulate: EmulatedVersion
  /** Members that crash repeatedly; empty: none. */
  readonly victims: readonly string[]
  /** See `SimulatedClusterOptions`. Default false. */
  readonly attaches?: boolean
}

export interface BalancingOutcome {
  /** Violations at the end, one sentence each. */
  readonly violations: readonly string[]
  readonly migrations: number
  /** All events about migrations, chunks and rounds of the balancer. */
  readonly events: readonly ClusterEvent[]
  readonly crashes: number
  readonly traceHash: string
}

const documents = 200
const workers = 4
const operations = 60
const spreadMs = 100

const recorded: ReadonlySet<ClusterEvent['type']> = new Set(['migration', 'split', 'merge', 'balancer-round'])

export async function playBalancing(story: BalancingStory): Promise<BalancingOutcome> {
  const { seed, emulate, victims, attaches = false } = story
  const world = await BalancedCluster.start({
    seed,
    emulate,
    shards: 3,
    mongos: 2,
    balancerRoundIntervalMs: 500,
    findReplicaSetHostTimeoutMs: 1000,
    attaches,
  })
  const random = createRandom(seed).fork('balancing')
  const ledger = new Ledger()
  let migrations = 0
  const events: ClusterEvent[] = []
  world.cluster.onEvent((event) => {
    if (event.type === 'migration' && event.stage === 'committed') migrations++
    if (recorded.has(event.type)) events.push(event)
  })
  const ns = await world.shard('c')
  await world.insert('c', range(documents), 400, () => ({ n: 0 }))
  for (const key of range(documents)) ledger.inserted(key, true)
  let working = true
  const crashing = (async () => {
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
  const crashes = await crashing
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
  return { violations, migrations, events, crashes, traceHash }
}

/** Increments, inserts, deletes and finds. */
async function work(client: PatientClient, ledger: Ledger, random: Random, number: number): Promise<void> {
  const keys = range(documents / workers).map((i) => i * workers + number)
  const fill = () => ({ pad: 'x'.repeat(350) })
  const worker = new LedgerWorker({ client, ledger, keys, nextKey: 10_000 + number * 10_000, fill })
  for (let i = 0; i < operations; i++) {
    const key = worker.keys[random.below(worker.keys.length)]!
    const choice = random.below(8)
    if (choice < 3) await worker.increment(key)
    else if (choice < 6) await worker.insert()
    else if (choice < 7) await worker.delete(key)
    else await worker.find()
    await client.pause(spreadMs)
  }
}

/** Documents that a shard holds without owning them. */
async function misplaced(world: BalancedCluster, ns: string): Promise<string[]> {
  const chunks = await world.chunks(ns)
  const ownerOf = (k: number) =>
    chunks.find(
      ({ min, max }) => (typeof min.k !== 'number' || min.k <= k) && (typeof max.k !== 'number' || k < max.k),
    )!['shard'] as string
  return (await world.placed('c')).flatMap((ids, i) =>
    ids
      .filter((id) => ownerOf(id) !== world.cluster.shards[i])
      .map((id) => `${world.cluster.shards[i]} keeps the orphan ${id}`),
  )
}
