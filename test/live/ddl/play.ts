/**
 * The DDL fuzz on worker threads: real clients, real time and real crashes. Each round has its own
 * cluster. A failure cannot be replayed exactly, because threads have no seeded order.
 */
import { createRandom, type Random } from '@shardlab/actor'
import { MongoClient, MongoServerError, type Document } from 'mongodb'
import { setTimeout as pause } from 'node:timers/promises'
import { ShardedCluster, type EmulatedVersion } from 'shardlab'
import { documents, type Run } from '../../simulation/ddl/checks.js'
import { databases } from '../../simulation/ddl/commands.js'
import { FuzzRecord, fuzzedVersions, type SendOnce } from '../../simulation/ddl/fuzz-record.js'
import { ddlSteps } from '../../simulation/ddl/rules.js'

const routers = ['mongos01', 'mongos02']
const workers = 6
const commandsOfEach = 30
const restMsMax = 120_000

/** Records of work that a restart has interrupted or that waits for another member. */
const records = [
  'system.sharding_ddl_coordinators',
  'migrationCoordinators',
  'localReshardingOperations.donor',
  'localReshardingOperations.recipient',
  'reshardingOperations',
]

export interface Round {
  readonly problems: readonly string[]
  readonly commands: number
  readonly succeeded: number
  readonly strikes: number
  readonly journal: readonly string[]
}

export async function playRound(seed: number): Promise<Round> {
  const random = createRandom(seed).fork('ddl on threads')
  const emulate = fuzzedVersions[random.below(fuzzedVersions.length)]!
  const cluster = await ShardedCluster.start({
    emulate,
    shards: 3,
    mongos: routers.length,
    runtime: 'threads',
    hosts: 64,
    findReplicaSetHostTimeoutMs: 1000,
    balancerRoundIntervalMs: 3_600_000,
  })
  const scene = new Scene(cluster, emulate, random)
  try {
    await scene.play()
  } catch (error) {
    scene.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    await scene.close()
    await cluster.stop()
  }
  return scene
}

class Scene extends FuzzRecord implements Round {
  strikes = 0
  readonly #cluster: ShardedCluster
  readonly #random: Random
  readonly #clients = new Map<string, MongoClient>()

  constructor(cluster: ShardedCluster, emulate: EmulatedVersion, random: Random) {
    super(emulate, () => performance.now())
    this.#cluster = cluster
    this.#random = random
  }

  async play(): Promise<void> {
    for (const db of databases) await this.#run({ enableSharding: db, $db: 'admin' })
    await this.#armFaults()
    await Promise.all(Array.from({ length: workers }, (_, i) => this.#work(this.#random.fork(`worker ${i}`))))
    await this.#rest()
    await this.check(this.#run, routers)
    await this.checkAnew(this.#run, routers)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()))
  }

  /** At steps, and at any time. */
  async #armFaults(): Promise<void> {
    const random = this.#random.fork('faults')
    const members = this.#cluster.members().map(({ address }) => address)
    const durationMs = () => 100 + random.below(1500)
    for (let i = random.below(6); i > 0; i--) {
      const step = ddlSteps[random.below(ddlSteps.length)]!
      const verb = random.chance(1, 3) ? 'fail' : 'crash'
      await this.#apply(`${verb} at ${step} first 1${verb === 'fail' ? '' : ` for ${durationMs()}ms`}`)
    }
    for (let i = random.below(3); i > 0; i--)
      await this.#apply(
        `crash ${members[random.below(members.length)]!} after ${random.below(4000)}ms for ${durationMs()}ms`,
      )
  }

  async #apply(fault: string): Promise<void> {
    this.note(fault)
    await this.#cluster.faults.apply(fault)
  }

  async #work(random: Random): Promise<void> {
    const send: SendOnce = (command) => this.#send(command, random)
    for (let i = 0; i < commandsOfEach; i++)
      await (random.chance(1, 3) ? this.insert(random, send) : this.change(random, send))
  }

  /** Through any router, once. Null: the outcome is unknown. */
  async #send(command: Document, random: Random): Promise<Document | null> {
    return this.#run(command, routers[random.below(routers.length)]).catch((error: unknown) => {
      this.note(String(error))
      return null
    })
  }

  readonly #run: Run = async ({ $db, ...command }, to = 'mongos01') => {
    const defined = Object.fromEntries(Object.entries(command).filter(([, value]) => value !== undefined))
    try {
      return await (await this.#client(to)).db($db as string).command(defined, { promoteLongs: true })
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error
      return { ...error.errorResponse, ok: 0 }
    }
  }

  async #client(member: string): Promise<MongoClient> {
    const known = this.#clients.get(member)
    if (known !== undefined) return known
    const { endpoint } = this.#cluster.members().find(({ address }) => address === member)!
    const options = { directConnection: true, serverSelectionTimeoutMS: 5000, retryWrites: false, retryReads: false }
    const client = new MongoClient(`mongodb://${endpoint}/`, options)
    this.#clients.set(member, client)
    return client.connect()
  }

  /** Resolves when all members run and no work is unfinished. */
  async #rest(): Promise<void> {
    for (const { strikes } of this.#cluster.faults.list()) this.strikes += strikes ?? 0
    await this.#cluster.faults.heal()
    const untilMs = performance.now() + restMsMax
    for (let left = await this.#unfinished(); left !== null; left = await this.#unfinished()) {
      if (performance.now() > untilMs) {
        this.problems.push(`not at rest after ${restMsMax} ms: ${left}`)
        return
      }
      await pause(100)
    }
  }

  async #unfinished(): Promise<string | null> {
    for (const { address, role, state } of this.#cluster.members()) {
      if (state !== 'running') return `${address} is ${state}`
      if (role !== 'shard' && role !== 'config') continue
      for (const name of records) {
        const filter = { find: name, filter: { _id: { $exists: true } }, $db: 'config' }
        const [record] = await documents(this.#run, filter, address)
        if (record !== undefined) return `${address} has in config.${name} ${JSON.stringify(record)}`
      }
    }
    return null
  }
}
