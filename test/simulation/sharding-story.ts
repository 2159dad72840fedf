/** A seeded story of a sharded cluster in which everything that may happen at the same time does. */
import { createRandom, type Random } from '@shardlab/actor'
import { encode } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import { Membership } from './activities/membership.js'
import { Placement } from './activities/placement.js'
import { ShortLived } from './activities/short-lived.js'
import { storyCollections, Worker } from './activities/sharded-documents.js'
import { UniqueKeys } from './activities/unique-keys.js'
import { StoryClient } from './sharding-client.js'
import { Inspection } from './sharding-inspection.js'
import { ShardingTrouble } from './sharding-trouble.js'

export interface Story {
  readonly traceHash: string
  readonly version: EmulatedVersion
  readonly violations: readonly string[]
  /** How much happened. */
  readonly acknowledged: number
  readonly unknown: number
  readonly crashes: number
  readonly strikes: number
  readonly severed: number
  readonly done: Readonly<Record<string, number>>
}

const versions: readonly EmulatedVersion[] = ['4.4', '5.0', '6.0.2', '6.0', '7.0', '8.0']
const workers = 3
const stepsOfWorker = 50
/** Clients may be held up for long: the others have done enough by then. */
const actionsOfAdministrator = 100
const livesMax = 12
const looksMax = 30
/** Patience until everything that was begun has ended; above the time that orphans are kept. */
const patienceMs = 2_500_000

/** Plays one seed. @throws Error when a client got an answer that may not be */
export async function playShardingStory(seed: number): Promise<Story> {
  const random = createRandom(seed).fork('sharding story')
  const version = versions[seed % versions.length]!
  const shards = 2 + random.below(3)
  const cluster = await createSimulatedCluster({
    seed,
    shards,
    mongos: 1 + random.below(2),
    emulate: version,
    findReplicaSetHostTimeoutMs: 1000,
  })
  const story = new ShardingStory(cluster, random, version)
  const violations = await story.play()
  await cluster.stop()
  return { ...story.summary(), traceHash: cluster.traceHash(), version, violations }
}

class ShardingStory {
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #trouble: ShardingTrouble
  readonly #placement: Placement
  readonly #shortLived: ShortLived
  readonly #membership: Membership
  readonly #resizes: boolean
  readonly #uniqueKeys = new UniqueKeys()
  readonly #workers: Worker[]
  readonly #inspection: Inspection
  readonly #violations: string[] = []

  constructor(cluster: SimulatedCluster, random: Random, version: EmulatedVersion) {
    this.#cluster = cluster
    this.#random = random
    this.#trouble = new ShardingTrouble(cluster, random, workers)
    this.#resizes = cluster.shards.length > 2 && random.fork('resizes').chance(1, 2)
    // Who drops what lies on a shard before it comes back must not drop what is being moved there.
    this.#placement = new Placement(cluster, version, this.#resizes ? cluster.shards.slice(0, -1) : cluster.shards)
    this.#shortLived = new ShortLived(cluster, version !== '4.4')
    this.#membership = new Membership(cluster, version)
    this.#workers = Array.from({ length: workers }, (_, i) => new Worker(i + 1, this.#client(10 + i, true), random.fork(`worker ${i + 1}`)))
    this.#inspection = new Inspection(cluster, this.#client(5), version)
  }

  async play(): Promise<string[]> {
    const admin = this.#client(1)
    await this.#placement.prepare(admin)
    if (this.#random.fork('balancer').chance(1, 2)) await admin.untilDone({ balancerStop: 1, $db: 'admin' })
    await this.#hurry()
    for (const worker of this.#workers) await worker.prepare()
    await Promise.all([
      ...this.#workers.map((worker) => this.#work(worker).finally(() => this.#trouble.clientDone())),
      this.#trouble.make(),
      ...[2, 3].map((number) => this.#administer(number)),
      this.#live(),
      this.#resize(),
      this.#watch(),
    ])
    await admin.untilDone({ balancerStop: 1, $db: 'admin' })
    await this.#settle()
    await this.#placement.finish(admin)
    await this.#inspect()
    return this.#violations
  }

  summary(): Omit<Story, 'traceHash' | 'version' | 'violations'> {
    const sum = (of: (worker: Worker) => number) => this.#workers.reduce((total, worker) => total + of(worker), 0)
    const { crashes, strikes, severed } = this.#trouble
    const done = {
      ...Object.fromEntries(this.#placement.done),
      lives: this.#shortLived.rounds,
      left: this.#membership.left,
      cameBack: this.#membership.cameBack,
    }
    return {
      acknowledged: sum(({ acknowledged }) => acknowledged),
      unknown: sum(({ unknown }) => unknown),
      crashes,
      strikes,
      severed,
      done,
    }
  }

  #client(connectionId: number, counts = false): StoryClient {
    return new StoryClient(this.#cluster, this.#random.fork(`client ${connectionId}`), counts ? () => this.#trouble.sent() : () => {})
  }

  /** In half of the stories orphans go at once; after a crash they are kept as long as ever. */
  async #hurry(): Promise<void> {
    const random = this.#random.fork('parameters')
    const hurries = random.chance(1, 2)
    for (const to of this.#cluster.shards) {
      await this.#cluster.command(encode({ setParameter: 1, migrateCloneInsertionBatchSize: 5, $db: 'admin' }), { to })
      if (hurries) await this.#cluster.command(encode({ setParameter: 1, orphanCleanupDelaySecs: 0, $db: 'admin' }), { to })
    }
  }

  async #work(worker: Worker): Promise<void> {
    const random = this.#random.fork(`pace ${worker.number}`)
    const unique = this.#client(20 + worker.number, true)
    for (let i = 0; i < stepsOfWorker; i++) {
      if (random.chance(1, 8)) await this.#uniqueKeys.step(unique, random, worker.number)
      else await worker.step()
      await this.#cluster.advance(random.fraction() * (random.chance(1, 20) ? 200 : 5))
    }
  }

  async #administer(number: number): Promise<void> {
    const random = this.#random.fork(`administration ${number}`)
    const client = this.#client(number)
    for (let i = 0; i < actionsOfAdministrator && this.#trouble.clientsAtWork; i++) {
      await this.#placement.step(client, random)
      await this.#cluster.advance(random.fraction() * 20)
    }
  }

  async #live(): Promise<void> {
    const random = this.#random.fork('short lives')
    const client = this.#client(4)
    for (let i = 0; i < livesMax && this.#trouble.clientsAtWork; i++) {
      await this.#shortLived.step(client, random)
      await this.#cluster.advance(random.fraction() * 100)
    }
  }

  /** In half of the stories that have a shard to spare. */
  async #resize(): Promise<void> {
    const random = this.#random.fork('membership')
    if (!this.#resizes) return
    const client = this.#client(6)
    await this.#cluster.advance(random.fraction() * 300)
    while (this.#trouble.clientsAtWork) {
      await this.#membership.step(client, random, () => this.#trouble.clientsAtWork)
      await this.#cluster.advance(200)
    }
  }

  async #watch(): Promise<void> {
    const random = this.#random.fork('watch')
    for (let i = 0; i < looksMax && this.#trouble.clientsAtWork; i++) {
      this.#violations.push(...(await this.#inspection.catalogViolations()))
      await this.#cluster.advance(random.fraction() * 300)
    }
  }

  async #settle(): Promise<void> {
    const untilMs = this.#cluster.now() + patienceMs
    await this.#cluster.advance(15_000)
    while ((await this.#inspection.pending()).length > 0 && this.#cluster.now() < untilMs) await this.#cluster.advance(100_000)
    this.#violations.push(...(await this.#inspection.pending()))
  }

  async #inspect(): Promise<void> {
    const wrong = this.#violations
    for (const worker of this.#workers) wrong.push(...worker.violations)
    wrong.push(...this.#uniqueKeys.violations, ...this.#shortLived.violations)
    wrong.push(...(await this.#inspection.catalogViolations()))
    for (const router of this.#cluster.mongos) {
      const client = this.#client(30)
      for (const ns of storyCollections) {
        const reply = await client.try({ find: ns, filter: {}, batchSize: 100_000, $db: 'app' }, [], router)
        const documents = reply?.reply['cursor'].firstBatch ?? []
        for (const worker of this.#workers) wrong.push(...worker.check(ns, documents, router))
      }
      const users = await client.try({ find: 'users', filter: {}, batchSize: 100_000, $db: 'app' }, [], router)
      wrong.push(...this.#uniqueKeys.check(users?.reply['cursor'].firstBatch ?? [], router))
    }
    for (const ns of storyCollections) {
      wrong.push(...(await this.#inspection.misplaced(ns)))
      const documents = await Promise.all(this.#cluster.shards.map((shard) => this.#inspection.direct(shard, 'app', ns)))
      for (const worker of this.#workers) wrong.push(...worker.check(ns, documents.flat(), 'shards'))
    }
    wrong.push(...(await this.#inspection.inconsistencies()))
  }
}
