/** Clients of `@shardlab/unique` compete for values; some stop forever in the middle of a write. */
import type { Random } from '@shardlab/actor'
import { Maintenance, UniqueProtocol, type World } from '@shardlab/unique/core'
import { uniqueValueViolations } from '../checkers/unique-values.js'
import { findingsOf } from '../finding.js'
import { Stop, stoppable, uniquePort } from '../unique/port.js'
import { isExpected, uniqueSpecs, UniqueWriter } from '../unique/writer.js'
import { Activity } from './activity.js'

const db = 'records'
const clients = 3
const writesOfClient = 4
const reservationMs = 6000

export class UniqueLibrary extends Activity {
  readonly name = 'unique-library'

  /**
   * The main collection is sharded by another field, each proxy by its own with `unique: true`, on
   * several shards.
   */
  override async prepare(): Promise<void> {
    const admin = this.world.client('records')
    const [first, second] = this.world.cluster.shards
    await admin.untilDone({ enableSharding: db, primaryShard: first!, $db: 'admin' })
    await admin.untilDone({ shardCollection: `${db}.information`, key: { region: 'hashed' }, $db: 'admin' })
    for (const [i, { fields }] of uniqueSpecs.entries()) {
      const key = Object.fromEntries(fields.map((field) => [field, 1]))
      await admin.untilDone({ shardCollection: `${db}.proxy${i}`, key, unique: true, $db: 'admin' })
      if (second === undefined) continue
      const middle = i === 0 ? { email: 'v3' } : { tenant: 1, handle: 'v3' }
      await admin.untilDone({ split: `${db}.proxy${i}`, middle, $db: 'admin' })
      await admin.untilDone({ moveChunk: `${db}.proxy${i}`, find: middle, to: second, $db: 'admin' })
    }
  }

  async run(): Promise<void> {
    const { pace, random } = this.world
    await Promise.all(
      Array.from({ length: clients }, (_, i) => pace.during(() => this.#client(random.fork(`unique ${i + 1}`), i + 1))),
    )
  }

  /**
   * Permanent invariants are checked at once, the others after reservations have expired and a
   * repair has run.
   */
  override async finish(): Promise<void> {
    const { verdicts } = this.world
    const world = this.#uniqueWorld(this.world.random.fork('unique values'), 0, null)
    verdicts.violated('unique', ...findingsOf(db, await uniqueValueViolations(world)))
    await world.clock.sleep(reservationMs + 1)
    const maintenance = new Maintenance(world, new UniqueProtocol(world))
    const { left } = await maintenance.repair()
    verdicts.violated(
      'unique',
      ...findingsOf(
        db,
        left.map((each) => `left after the repair: ${JSON.stringify(each)}`),
      ),
    )
    verdicts.violated('unique', ...findingsOf(db, await uniqueValueViolations(world)))
    const { findings, waiting } = await maintenance.verify()
    verdicts.violated(
      'unique',
      ...findingsOf(
        db,
        findings.map((each) => `found after the repair: ${JSON.stringify(each)}`),
      ),
    )
    if (waiting > 0) verdicts.failed('unique', `${waiting} reservations are left`)
  }

  async #client(random: Random, number: number): Promise<void> {
    const stop = random.chance(1, 2) ? new Stop(random.below(20), random.chance(1, 2)) : null
    const work = this.#write(random, number, new UniqueWriter(this.#uniqueWorld(random, number, stop)))
    await Promise.race(
      stop === null ? [work] : [work, stop.stopped.promise.then(() => this.count('unique client stopped'))],
    )
  }

  async #write(random: Random, number: number, writer: UniqueWriter): Promise<void> {
    const value = (): string => `v${random.below(6)}`
    for (let i = 0; i < writesOfClient; i++) {
      // Some documents belong to one client, some to all.
      const _id = random.chance(1, 2) ? number * 100 + i : random.below(3)
      const choice = random.below(10)
      try {
        if (choice < 5) await writer.insert({ _id, email: value(), tenant: 1, handle: value(), region: _id })
        else if (choice < 8)
          await writer.update(_id, random.chance(1, 2) ? { email: value() } : { email: value(), handle: value() })
        else await writer.remove(_id)
        this.count('unique write')
      } catch (error) {
        if (!isExpected(error)) throw error
      }
    }
  }

  #uniqueWorld(random: Random, number: number, stop: Stop | null): World {
    const { cluster } = this.world
    const client = this.world.client(`unique ${number}`, number > 0)
    const sender = stoppable(client, stop)
    const port = (collection: string) => uniquePort(sender, db, collection)
    return {
      main: port('information'),
      proxies: uniqueSpecs.map((spec, i) => ({
        name: `proxy${i}`,
        port: port(`proxy${i}`),
        specs: [spec],
        sharded: true,
      })),
      specs: uniqueSpecs,
      clock: { now: () => cluster.now(), sleep: (durationMs) => cluster.advance(durationMs) },
      newToken: () => Buffer.from(random.bytes(12)).toString('hex'),
      reservationMs,
      busyMs: 500,
      tell: () => {},
      transactions: null,
      markers: false,
    }
  }
}
