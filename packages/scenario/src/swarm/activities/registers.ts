/**
 * Registers, which clients write with majorities and read linearizably, and entries, which they
 * insert with and without majorities and read from all members in causally consistent sessions.
 */
import type { Random } from '@shardlab/actor'
import { readTimeMs, type SwarmClient } from '../client/swarm-client.js'
import { pick } from '../draw.js'
import { finding } from '../finding.js'
import type { CheckerName } from '../types.js'
import type { SwarmWorld } from '../world.js'
import { Activity } from './activity.js'
import { RegisterHistories } from './register-histories.js'

const clients = 3
const registers = 2
const entriesOfClient = 10_000

export class Registers extends Activity {
  readonly name = 'registers'
  readonly #registers: RegisterHistories
  /** Entries that clients have sent. */
  readonly #sent = new Set<number>()
  /** Entries that cannot be lost, and how a client learned that. */
  readonly #lasting = new Map<number, string>()

  constructor(world: SwarmWorld) {
    super(world)
    this.#registers = new RegisterHistories(world, 'registers')
  }

  override async prepare(): Promise<void> {
    const admin = this.world.client('registers')
    await admin.untilDone({ shardCollection: 'app.entries', key: { _id: 'hashed' }, $db: 'admin' })
    await this.#registers.prepare(admin, registers)
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: clients }, (_, i) => this.world.pace.during(() => this.#work(i + 1))))
  }

  override async finish(): Promise<void> {
    const client = this.world.client('entries')
    await this.#registers.check(client)
    const found = await client.documentsOf({ find: 'entries', filter: {}, batchSize: 1000, $db: 'app' })
    if (found === null) {
      this.#violated('convergence', 'no answer to a read of all entries', 'entries')
      return
    }
    const ids = new Set(found.map(({ _id }) => _id as number))
    for (const [_id, reason] of this.#lasting)
      if (!ids.has(_id)) this.#violated('durability', `entry ${_id} is lost; it was ${reason}`, 'entries', _id)
    for (const _id of ids)
      if (!this.#sent.has(_id)) this.#violated('durability', `entry ${_id} was never sent`, 'entries', _id)
  }

  async #work(number: number): Promise<void> {
    const { plan, random: root } = this.world
    const random = root.fork(`registers ${number}`)
    const client = this.world.client(`registers ${number}`, true)
    const session = new EntriesSession(number)
    for (let i = 0; i < plan.stepsOfWorker; i++) {
      await this.#step(client, random, session)
      await client.pause(random.chance(1, 5) ? 600 : 60)
    }
  }

  async #step(client: SwarmClient, random: Random, session: EntriesSession): Promise<void> {
    const choice = random.below(12)
    const register = random.below(registers)
    if (choice < 3) await this.#write(client, register)
    else if (choice < 6) await this.#read(client, register)
    else if (choice < 8) await this.#insert(client, random, session)
    else if (choice < 9) await this.#insertUnsafely(client, session)
    else await this.#readEntries(client, random, session)
  }

  async #write(client: SwarmClient, _id: number): Promise<void> {
    await this.#registers.write(client, _id)
    this.count('register written')
  }

  async #read(client: SwarmClient, _id: number): Promise<void> {
    if (await this.#registers.read(client, _id)) this.count('register read')
  }

  async #insert(client: SwarmClient, random: Random, session: EntriesSession): Promise<void> {
    const _id = session.nextId()
    this.#sent.add(_id)
    await client.retryably({ insert: 'entries', documents: [{ _id }], $db: 'app' }, [], ({ n }) => n as number)
    this.#lasting.set(_id, 'acknowledged by a majority')
    session.seen.add(_id)
    if (random.chance(1, 2)) await this.#readEntries(client, random, session)
  }

  /** May be rolled back, unless a majority read returns it. */
  async #insertUnsafely(client: SwarmClient, session: EntriesSession): Promise<void> {
    const _id = session.nextId()
    this.#sent.add(_id)
    await client.try({ insert: 'entries', documents: [{ _id }], writeConcern: { w: 1 }, $db: 'app' }, [], null)
  }

  /** In a session, entries that were read or acknowledged stay visible on every member. */
  async #readEntries(client: SwarmClient, random: Random, session: EntriesSession): Promise<void> {
    const mode = pick(random, ['primary', 'secondary', 'secondaryPreferred', 'nearest'])
    const before = [...session.seen]
    const found = await client.documentsOf({
      find: 'entries',
      filter: {},
      batchSize: random.chance(1, 2) ? 1000 : 10,
      maxTimeMS: readTimeMs,
      $readPreference: { mode },
      $db: 'app',
    })
    if (found === null) return
    const ids = new Set(found.map(({ _id }) => _id as number))
    const missing = before.find((_id) => !ids.has(_id))
    if (missing !== undefined)
      this.#violated(
        'causality',
        `session ${session.number} does not see entry ${missing}, which it has seen before, with the read preference ${mode}`,
        'entries',
        missing,
      )
    for (const _id of ids) {
      session.seen.add(_id)
      if (!this.#lasting.has(_id)) this.#lasting.set(_id, `read with majority by session ${session.number}`)
    }
    this.count(`entries read, ${mode}`)
  }

  #violated(checker: CheckerName, sentence: string, collection: string, ...ids: readonly number[]): void {
    this.world.verdicts.violated(checker, finding(sentence, `app.${collection}`, ...ids))
  }
}

class EntriesSession {
  readonly number: number
  readonly seen = new Set<number>()
  #next: number

  constructor(number: number) {
    this.number = number
    this.#next = number * entriesOfClient
  }

  nextId(): number {
    return this.#next++
  }
}
