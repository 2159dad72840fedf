/** A collection with documents: after each step of the guide, no value gets a second document. */
import t from 'tap'
import { uniqueCollection } from '@shardlab/unique'
import { leave, mainCollection, places, type Loose } from './support/places.js'

t.teardown(leave)

for (const place of await places()) {
  for (const transactions of ['never', 'auto'] as const) {
    t.test(`${place.title}, transactions ${transactions}: every step after init() is safe`, async (t) => {
      const main = await mainCollection(place)
      await main.insertMany([1, 2, 3].map((n) => ({ _id: n, email: n === 1 ? 'a' : 'b', region: n })))
      const users = await uniqueCollection(main, { unique: ['email'], transactions }).init()
      const others = await uniqueCollection(main, { unique: ['email'] }).init()
      let id = 100
      const isRefused = async (when: string): Promise<void> => {
        for (const client of [users, others]) {
          for (const email of ['a', 'b'])
            await t.rejects(
              client.insertOne({ _id: id++, email }),
              { name: 'DuplicateValueError' },
              `${when}: ${email}`,
            )
          await client.insertOne({ _id: 99, email: 'c' })
          await t.rejects(client.updateOne({ _id: 99 }, { $set: { email: 'a' } }), { name: 'DuplicateValueError' })
          await t.rejects(client.replaceOne({ _id: 99 }, { email: 'b' }), { name: 'DuplicateValueError' })
          await client.deleteOne({ _id: 99 })
        }
      }
      t.same(await users.status(), { enforcing: false, next: 'run backfill()' })
      await isRefused('after init')
      const [finding] = (await users.backfill()).findings as readonly { kind: string; holder: number }[]
      t.match(finding, { kind: 'duplicate' })
      await isRefused('after a backfill that found duplicates')
      await users.deleteOne({ _id: finding!.holder })
      await isRefused('after the owner of the reservation was deleted')
      t.match(await users.repair(), { left: [], enforcing: false, next: 'run backfill()' })
      await isRefused('after a repair')
      t.match(await users.backfill(), { findings: [], enforcing: true, next: null })
      await isRefused('while enforcing')
      t.match(await users.verify(), { documents: 2, reservations: 2, findings: [], enforcing: true, next: null })
    })
  }

  t.test(`${place.title}: a duplicate deleted past the library keeps its value until the next backfill`, async (t) => {
    const main = await mainCollection(place)
    await main.insertMany([1, 2].map((n) => ({ _id: n, email: 'a', region: n })))
    const users = await uniqueCollection(main, { unique: ['email'] }).init()
    const [finding] = (await users.backfill()).findings as readonly { holder: number }[]
    await main.deleteOne({ _id: finding!.holder })
    await t.rejects(users.insertOne({ _id: 3, email: 'a' }), { name: 'DuplicateValueError' })
    t.match(await users.backfill(), { reserved: 1, enforcing: true, next: null })
    await t.rejects(users.insertOne({ _id: 3, email: 'a' }), { name: 'DuplicateValueError' })
    t.same((await users.verify()).findings, [])
  })

  t.test(`${place.title}: normalized values wait for the backfill, because no filter finds them`, async (t) => {
    const main = await mainCollection(place)
    await main.insertOne({ _id: 1, email: 'A' })
    const users = await uniqueCollection(main, {
      unique: [{ fields: 'email', normalize: (email) => email.toLowerCase() }],
    }).init()
    await t.rejects(users.insertOne({ _id: 2, email: 'b' }), { name: 'BackfillRequiredError', message: /run backfill/ })
    await t.rejects(users.updateOne({ _id: 1 }, { $set: { email: 'b' } }), { name: 'BackfillRequiredError' })
    t.match(await users.backfill(), { enforcing: true })
    await t.rejects(users.insertOne({ _id: 2, email: 'a' }), { name: 'DuplicateValueError', owner: 1 })
    await users.insertOne({ _id: 2, email: 'b' })
    t.equal((await users.updateOne({ _id: 1 }, { $set: { email: 'C' } })).modifiedCount, 1)
  })

  t.test(`${place.title}: programs with other rules for a field are refused, also for reading`, async (t) => {
    const main = await mainCollection(place)
    await main.insertOne({ _id: 1, email: 'A' })
    const normalize = (email: string) => email.toLowerCase()
    const normalized = await uniqueCollection(main, { unique: [{ fields: 'email', normalize }] }).init()
    await normalized.backfill()
    for (const make of [true, false]) {
      await t.rejects(uniqueCollection(main, { unique: ['email'] }).init({ make }), {
        name: 'MisconfiguredProxyError',
        message:
          'values of email are reserved after normalize, but the options have none: use the same options in every program, or another proxy collection',
      })
      await t.rejects(
        uniqueCollection(main, { unique: [{ fields: 'email', normalize, missing: 'skip' }] }).init({ make }),
        {
          name: 'MisconfiguredProxyError',
          message: /^values of email are reserved with missing: 'reserve', but the options have 'skip': /,
        },
      )
      await uniqueCollection(main, { unique: [{ fields: 'email', normalize }] }).init({ make })
    }
    t.same((await normalized.verify()).findings, [])
    const plain = await mainCollection(place)
    const options = { unique: [{ fields: 'email', normalize }] }
    const outcomes = await Promise.allSettled(
      [{ unique: ['email'] }, options, options].map((each) => uniqueCollection(plain, each).init()),
    )
    t.ok([1, 2].includes(outcomes.filter(({ status }) => status === 'rejected').length), 'one form of concurrent ones')
  })

  t.test(`${place.title}: repair says how many reservations wait, and until when`, async (t) => {
    const main = await mainCollection(place)
    const users = await uniqueCollection(main, { unique: ['email'], proxy: 'proxy' }).init()
    t.same(await users.status(), { enforcing: true, next: null }, 'an empty collection needs no backfill')
    const proxy = main.db.collection<any>('proxy')
    const until = new Date(Date.now() + 3_600_000)
    await proxy.insertMany(
      [1, 2].map((n) => ({
        _id: n,
        email: `${n}`,
        state: 'reserved',
        attempt: n,
        expiresAt: n === 1 ? new Date(Date.now() + 1_800_000) : until,
      })),
    )
    t.same(await users.repair(), {
      mended: 0,
      left: [],
      waiting: 2,
      waitingUntil: until,
      enforcing: true,
      next: `run repair() again after ${until.toISOString()}`,
    })
    t.match(await users.verify(), { waiting: 2, waitingUntil: until, findings: [], next: null })
  })

  t.test(`${place.title}: a repair that finds duplicates begins the searches again`, async (t) => {
    const main: Loose = await mainCollection(place)
    const users = await uniqueCollection(main, { unique: ['email'] }).init()
    await users.insertOne({ _id: 1, email: 'a', region: 1 })
    await main.insertOne({ _id: 2, email: 'a', region: 2 })
    t.match(await users.repair(), { left: [{ kind: 'duplicate' }], enforcing: false, next: /run backfill/ })
    await users.deleteOne({ _id: 1 })
    await t.rejects(users.insertOne({ _id: 3, email: 'a' }), { name: 'DuplicateValueError', owner: 2 })
    t.match(await users.backfill(), { reserved: 1, enforcing: true })
  })
}
