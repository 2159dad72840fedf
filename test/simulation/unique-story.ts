/** Clients that want the same values, on a simulated cluster whose members crash; some clients stop for good in the middle of a write. */
import { createDeferred, createRandom, type Random } from '@shardlab/actor'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { Maintenance, parseSpec, UniqueProtocol, type Fields, type World } from '@shardlab/unique'
import { PatientClient } from './patient-client.js'
import { Trouble } from './trouble.js'
import { simulatedClock, simulatedPort, type Stop } from './unique-port.js'

const specs = ['email', { fields: ['tenant', 'handle'] }].map(parseSpec)
const reservationMs = 6000
const clients = 3
const writesOfClient = 3
const db = 'records'

export interface Outcome {
  readonly violations: readonly string[]
  readonly traceHash: string
  readonly crashes: number
  readonly acknowledged: number
  readonly stopped: number
}

/** Plays that many schedules, one after the other, on one cluster. @throws Error when a client got a wrong answer */
export async function playUnique(seed: number, schedules: number): Promise<Outcome> {
  const cluster = await createSimulatedCluster({ seed, shards: 2, mongos: 1, findReplicaSetHostTimeoutMs: 1000 })
  const story = new UniqueStory(cluster, createRandom(seed).fork('unique'))
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

  constructor(cluster: SimulatedCluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
  }

  /** The main collection is sharded by another field, the proxies by theirs with `unique: true`. */
  async prepare(): Promise<void> {
    const admin = new PatientClient(this.#cluster, this.#random.fork('preparation'))
    await admin.untilDone({ shardCollection: `${db}.information`, key: { region: 'hashed' }, $db: 'admin' })
    for (const [i, { fields }] of specs.entries()) {
      const key = Object.fromEntries(fields.map((field) => [field, 1]))
      await admin.untilDone({ shardCollection: `${db}.proxy${i}`, key, unique: true, $db: 'admin' })
      // Values have to lie on several shards.
      const middle = i === 0 ? { email: 'v3' } : { tenant: 1, handle: 'v3' }
      await admin.untilDone({ split: `${db}.proxy${i}`, middle, $db: 'admin' })
      const [{ shard }] = (await admin.untilDone({ find: 'databases', filter: { _id: db }, $db: 'config' }))['cursor'].firstBatch.map(
        ({ primary }: { primary: string }) => ({ shard: this.#cluster.shards.find((each) => each !== primary)! }),
      )
      await admin.untilDone({ moveChunk: `${db}.proxy${i}`, find: middle, to: shard, $db: 'admin' })
    }
  }

  /** One schedule: writes and crashes, then a repair, then everything is removed. */
  async play(number: number): Promise<void> {
    const random = this.#random.fork(`schedule ${number}`)
    const trouble = new Trouble(this.#cluster, random, clients)
    const work = Array.from({ length: clients }, (_, i) =>
      this.#client(random.fork(`client ${i + 1}`), i + 1, trouble).finally(() => trouble.clientDone()),
    )
    await Promise.all([...work, trouble.make()])
    this.crashes += trouble.crashes
    await this.settle(`schedule ${number}`)
  }

  /** What must never be is checked at once, unless there are documents that were written past the library; the rest after the reservations expired and a repair. Then everything is removed. */
  async settle(title: string, promised = true): Promise<void> {
    const world = this.world(this.#random.fork(`${title}, inspection`), null)
    const wrong = promised ? await unsafe(world) : []
    await this.#cluster.advance(reservationMs + 1)
    const maintenance = new Maintenance(world, new UniqueProtocol(world))
    const { left } = await maintenance.repair()
    wrong.push(...left.map((finding) => `left after the repair: ${JSON.stringify(finding)}`), ...(await unsafe(world)))
    const { findings, inFlight } = await maintenance.verify()
    wrong.push(...findings.map((finding) => `found after the repair: ${JSON.stringify(finding)}`))
    if (inFlight > 0) wrong.push(`${inFlight} reservations are left`)
    this.violations.push(...wrong.map((text) => `${title}: ${text}`))
    const admin = new PatientClient(this.#cluster, this.#random.fork(`${title}, removal`))
    for (const collection of ['information', ...specs.map((_, i) => `proxy${i}`)]) {
      await admin.untilDone({ delete: collection, deletes: [{ q: {}, limit: 0 }], $db: db })
    }
  }

  world(random: Random, stop: Stop | null, onSend: () => void = () => {}): World {
    const client = new PatientClient(this.#cluster, random.fork('session'), onSend)
    const port = (collection: string) => simulatedPort(client, db, collection, stop)
    return {
      main: port('information'),
      proxies: specs.map((spec, i) => ({ name: `proxy${i}`, port: port(`proxy${i}`), specs: [spec], sharded: true })),
      specs,
      clock: simulatedClock(this.#cluster),
      newToken: () => Buffer.from(random.bytes(12)).toString('hex'),
      reservationMs,
      busyMs: 500,
      tell: () => {},
      transactions: null,
    }
  }

  async #client(random: Random, number: number, trouble: Trouble): Promise<void> {
    const stop: Stop | null = random.chance(1, 2)
      ? { commandsLeft: random.below(20), after: random.chance(1, 2), stopped: createDeferred<void>() }
      : null
    const writer = new Writer(this.world(random, stop, () => trouble.sent()))
    const work = this.#write(random, number, writer)
    await Promise.race(stop === null ? [work] : [work, stop.stopped.promise.then(() => void this.stopped++)])
  }

  async #write(random: Random, number: number, writer: Writer): Promise<void> {
    const value = (): string => `v${random.below(6)}`
    for (let i = 0; i < writesOfClient; i++) {
      // Some documents are a client's own, some are everybody's.
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

/** One client's writes. */
export class Writer {
  readonly #world: World
  readonly #protocol: UniqueProtocol

  constructor(world: World) {
    this.#world = world
    this.#protocol = new UniqueProtocol(world)
  }

  insert(document: Fields): Promise<void> {
    return this.#protocol.insert(document, () => this.#world.main.insertOne(document))
  }

  async update(_id: unknown, $set: Fields): Promise<void> {
    await this.#protocol.change({
      find: () => this.#world.main.findOne({ _id }),
      plan: (before) => ({ touched: specs.filter(({ fields }) => fields.some((field) => field in $set)), after: { ...before, ...$set } }),
      write: async ({ region }, guard) => ((await this.#world.main.updateOne({ _id, region, ...guard }, { $set })) > 0 ? true : null),
    })
  }

  /** A document without a reservation. */
  async insertPast(document: Fields): Promise<void> {
    await this.#world.main.insertOne(document)
  }

  async backfill(): Promise<void> {
    await new Maintenance(this.#world, this.#protocol).backfill()
  }

  async remove(_id: unknown): Promise<void> {
    await this.#protocol.change({
      find: () => this.#world.main.findOne({ _id }),
      plan: () => ({ touched: specs, after: null }),
      write: async ({ region }, guard) => ((await this.#world.main.deleteOne({ _id, region, ...guard })) > 0 ? true : null),
    })
  }
}

/** Values that are taken, documents that others are changing, answers that did not come: anything else is wrong. */
export function mustBeExpected(error: unknown): void {
  const { name } = error as Error
  if (!['DuplicateValueError', 'BusyDocumentError', 'UnknownOutcomeError', 'PortError'].includes(name)) throw error
}

/** Values that two documents have, documents without a reservation. */
async function unsafe(world: World): Promise<string[]> {
  const wrong: string[] = []
  const documents = await all(world, world.main)
  for (const {
    port,
    specs: [spec],
  } of world.proxies) {
    const owners = new Map(
      (await all(world, port)).map((proxy) => [key(spec!.fields, proxy), 'owner' in proxy ? proxy['owner'] : proxy['_id']]),
    )
    const seen = new Set<string>()
    for (const document of documents) {
      const value = key(spec!.fields, document)
      if (seen.has(value)) wrong.push(`${spec!.name} ${value} is owned twice`)
      seen.add(value)
      if (owners.get(value) !== document['_id']) wrong.push(`${JSON.stringify(document)} has no reservation of ${spec!.name}`)
    }
  }
  return wrong
}

const key = (fields: readonly string[], document: Fields): string => JSON.stringify(fields.map((field) => document[field]))

async function all({ clock }: World, port: World['main']): Promise<Fields[]> {
  for (;;) {
    try {
      const documents: Fields[] = []
      for await (const document of port.find({})) documents.push(document)
      return documents
    } catch (error) {
      mustBeExpected(error)
      await clock.sleep(50)
    }
  }
}
