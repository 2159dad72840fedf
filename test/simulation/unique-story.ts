/**
 * Clients that write the same values, on a simulated cluster whose members crash; some clients stop
 * for good during a write.
 */
import { createRandom, type Random } from '@shardlab/actor'
import { encode } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import {
  isExpected,
  type CommandSender,
  Stop,
  stoppable,
  uniquePort,
  uniqueSpecs as specs,
  uniqueTransactions,
  uniqueValueViolations,
  UniqueWriter,
} from '@shardlab/scenario'
import { Maintenance, UniqueProtocol, type World } from '@shardlab/unique'
import { PatientClient } from './patient-client.js'
import { CrashDriver } from './crash-driver.js'

const reservationMs = 6000
const clients = 3
const writesOfClient = 3
const db = 'records'

/** Which clients write in transactions. */
export type Transacting = 'none' | 'some' | 'all'

export interface Outcome {
  readonly violations: readonly string[]
  readonly traceHash: string
  readonly crashes: number
  readonly acknowledged: number
  readonly stopped: number
}

/**
 * Plays this many schedules, one after the other, on one cluster. @throws Error when a client got a
 * wrong reply
 */
export async function playUnique(seed: number, schedules: number, transacting: Transacting): Promise<Outcome> {
  const cluster = await createSimulatedCluster({ seed, shards: 2, mongos: 1, findReplicaSetHostTimeoutMs: 1000 })
  const story = new UniqueStory(cluster, createRandom(seed).fork('unique'), transacting)
  await story.prepare()
  for (let i = 1; i <= schedules; i++) await story.play(i)
  await cluster.stop()
  return {
    violations: story.violations,
    traceHash: cluster.traceHash(),
    crashes: story.crashes,
    acknowledged: story.acknowledged,
    stopped: story.stopped,
  }
}

export class UniqueStory {
  readonly violations: string[] = []
  crashes = 0
  acknowledged = 0
  stopped = 0
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #transacting: Transacting

  constructor(cluster: SimulatedCluster, random: Random, transacting: Transacting) {
    this.#transacting = transacting
    this.#cluster = cluster
    this.#random = random
  }

  /**
   * The main collection is sharded by another field, the proxies by their field with
   * `unique: true`.
   */
  async prepare(): Promise<void> {
    const admin = new PatientClient(this.#cluster, this.#random.fork('preparation'))
    await admin.untilDone({ shardCollection: `${db}.information`, key: { region: 'hashed' }, $db: 'admin' })
    for (const [i, { fields }] of specs.entries()) {
      const key = Object.fromEntries(fields.map((field) => [field, 1]))
      await admin.untilDone({ shardCollection: `${db}.proxy${i}`, key, unique: true, $db: 'admin' })
      // The values must be on several shards.
      const middle = i === 0 ? { email: 'v3' } : { tenant: 1, handle: 'v3' }
      await admin.untilDone({ split: `${db}.proxy${i}`, middle, $db: 'admin' })
      const [{ shard }] = (await admin.untilDone({ find: 'databases', filter: { _id: db }, $db: 'config' }))[
        'cursor'
      ].firstBatch.map(({ primary }: { primary: string }) => ({
        shard: this.#cluster.shards.find((each) => each !== primary)!,
      }))
      await admin.untilDone({ moveChunk: `${db}.proxy${i}`, find: middle, to: shard, $db: 'admin' })
    }
  }

  /** One schedule: writes and crashes, a repair, then everything is removed. */
  async play(number: number): Promise<void> {
    const random = this.#random.fork(`schedule ${number}`)
    await this.shortenTransactions()
    const crashDriver = new CrashDriver(this.#cluster, random, clients)
    const work = Array.from({ length: clients }, (_, i) =>
      this.#client(random.fork(`client ${i + 1}`), i + 1, crashDriver).finally(() => crashDriver.clientDone()),
    )
    await Promise.all([...work, crashDriver.run()])
    this.crashes += crashDriver.crashes
    await this.settle(`schedule ${number}`)
  }

  /** Clients wait for the transactions of those that have stopped. */
  async shortenTransactions(): Promise<void> {
    if (this.#transacting === 'none') return
    const command = encode({ setParameter: 1, transactionLifetimeLimitSeconds: 1, $db: 'admin' })
    for (const shard of this.#cluster.shards) await this.#cluster.command(command, { to: shard })
  }

  /**
   * Checks at once what must always hold, unless documents were written past the library. Checks
   * the rest after the reservations have expired and a repair has run. Then everything is removed.
   */
  async settle(title: string, promised = true): Promise<void> {
    const world = this.world(this.#random.fork(`${title}, inspection`), null)
    const wrong = promised ? await uniqueValueViolations(world) : []
    await this.#cluster.advance(reservationMs + 1)
    const maintenance = new Maintenance(world, new UniqueProtocol(world))
    const { left } = await maintenance.repair()
    wrong.push(
      ...left.map((finding) => `left after the repair: ${JSON.stringify(finding)}`),
      ...(await uniqueValueViolations(world)),
    )
    const { findings, waiting } = await maintenance.verify()
    wrong.push(...findings.map((finding) => `found after the repair: ${JSON.stringify(finding)}`))
    if (waiting > 0) wrong.push(`${waiting} reservations are left`)
    this.violations.push(...wrong.map((text) => `${title}: ${text}`))
    const admin = new PatientClient(this.#cluster, this.#random.fork(`${title}, removal`))
    for (const collection of ['information', ...specs.map((_, i) => `proxy${i}`)]) {
      await admin.untilDone({ delete: collection, deletes: [{ q: {}, limit: 0 }], $db: db })
    }
  }

  world(random: Random, stop: Stop | null, onSend: () => void = () => {}, hasTransactions = false): World {
    const client = stoppable(new PatientClient(this.#cluster, random.fork('session'), onSend), stop)
    const ports = (sender: CommandSender) => ({
      main: uniquePort(sender, db, 'information'),
      proxies: specs.map((spec, i) => {
        const name = `proxy${i}`
        return { name, port: uniquePort(sender, db, name), specs: [spec], sharded: true }
      }),
    })
    const sleep = (durationMs: number): Promise<void> => this.#cluster.advance(durationMs)
    return {
      ...ports(client),
      specs,
      clock: { now: () => this.#cluster.now(), sleep },
      newToken: () => Buffer.from(random.bytes(12)).toString('hex'),
      reservationMs,
      busyMs: 500,
      tell: () => {},
      transactions: hasTransactions
        ? uniqueTransactions({
            client,
            sessionId: random.bytes(16),
            sleep,
            scopeOf: (sender) => ({ ...ports(sender), session: null }),
          })
        : null,
      markers: false,
    }
  }

  async #client(random: Random, number: number, crashDriver: CrashDriver): Promise<void> {
    const stop = random.chance(1, 2) ? new Stop(random.below(20), random.chance(1, 2)) : null
    const hasTransactions = this.#transacting === 'all' || (this.#transacting === 'some' && number % 2 === 1)
    const writer = new UniqueWriter(this.world(random, stop, () => crashDriver.sent(), hasTransactions))
    const work = this.#write(random, number, writer)
    await Promise.race(stop === null ? [work] : [work, stop.stopped.promise.then(() => void this.stopped++)])
  }

  async #write(random: Random, number: number, writer: UniqueWriter): Promise<void> {
    const value = (): string => `v${random.below(6)}`
    for (let i = 0; i < writesOfClient; i++) {
      // Some documents belong to one client, some are shared.
      const _id = random.chance(1, 2) ? number * 100 + i : random.below(3)
      const choice = random.below(10)
      const write =
        choice < 5
          ? writer.insert({ _id, email: value(), tenant: 1, handle: value(), region: _id })
          : choice < 8
            ? writer.update(_id, random.chance(1, 2) ? { email: value() } : { email: value(), handle: value() })
            : writer.remove(_id)
      await write.then(() => void this.acknowledged++, mustBeExpected)
    }
  }
}

/** @throws an unexpected error */
export function mustBeExpected(error: unknown): void {
  if (!isExpected(error)) throw error
}
