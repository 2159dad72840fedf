/**
 * All writes of the library through the driver, its events, its maintenance, and clients that
 * insert equal values concurrently.
 */
import t from 'tap'
import { UniqueBulkWriteError, uniqueCollection, type UniqueEvent } from '@shardlab/unique'
import { leave, mainCollection, places } from './support/places.js'

t.teardown(leave)

const duplicate = { name: 'DuplicateValueError', code: 11000 }
const long = process.env['SHARDLAB_LONG'] === '1'

for (const place of await places()) {
  // Every pair of version and layout takes a second, so the short run tries each version and each
  // layout once.
  const layouts = ['sharded', 'unsharded'] as const
  for (const proxies of long || place.title.includes(':') ? layouts : [layouts[place.title === '4.4' ? 1 : 0]!]) {
    t.test(`${place.title}, ${proxies} proxies: every write keeps the proxies right`, async (t) => {
      const main = await mainCollection(place)
      const users = await uniqueCollection(main, { unique: ['email', 'handle'], proxies }).init()
      const inserted = await users.insertMany(
        [1, 2, 3, 4].map((n) => ({ _id: n, email: `e${n}`, handle: `h${n}`, region: n })),
      )
      t.same(inserted, { acknowledged: true, insertedCount: 4, insertedIds: { 0: 1, 1: 2, 2: 3, 3: 4 } })
      const failed = await users
        .insertMany(
          [5, 1, 6].map((n) => ({ email: `e${n}`, handle: `h${n}` })),
          { ordered: false },
        )
        .catch((error: unknown) => error)
      t.type(failed, UniqueBulkWriteError)
      t.match(failed, {
        code: 11000,
        writeErrors: [{ index: 1, error: { ...duplicate, owner: 1 } }],
        result: { insertedCount: 2 },
      })

      t.same(await users.updateOne({ _id: 9 }, { $set: { email: 'x' } }), {
        acknowledged: true,
        matchedCount: 0,
        modifiedCount: 0,
        upsertedCount: 0,
        upsertedId: null,
      })
      t.match(await users.updateOne({ email: 'e1' }, { $set: { email: 'x1' }, $inc: { n: 1 } }), {
        matchedCount: 1,
        modifiedCount: 1,
      })
      t.match(await users.updateOne({ email: 'x1' }, { $set: { email: 'x1' } }), { matchedCount: 1, modifiedCount: 0 })
      await t.rejects(users.updateOne({ email: 'x1' }, { $set: { email: 'e2' } }), { ...duplicate, owner: 2 })
      await t.rejects(users.replaceOne({ _id: 2 }, { email: 'e2', handle: 'h3', region: 2 }), {
        ...duplicate,
        field: 'handle',
        owner: 3,
      })
      t.match(await users.replaceOne({ _id: 2 }, { email: 'e1', handle: 'h2', region: 2 }), {
        matchedCount: 1,
        modifiedCount: 1,
      })
      t.match(await users.findOneAndUpdate({ email: 'e3' }, { $set: { handle: 'new' } }), { _id: 3, handle: 'h3' })
      t.match(
        await users.findOneAndUpdate(
          {},
          { $set: { handle: 'newer' } },
          { returnDocument: 'after', sort: { region: 1 }, projection: { handle: 1 } },
        ),
        { handle: 'newer', email: undefined },
      )
      t.match(
        await users.findOneAndReplace(
          { _id: 3 },
          { email: 'e3', handle: 'h3', region: 3 },
          { returnDocument: 'after' },
        ),
        {
          handle: 'h3',
        },
      )
      t.equal(await users.findOneAndUpdate({ _id: 99 }, { $set: { email: 'none' } }), null)
      t.match(await users.findOneAndDelete({ _id: 4 }), { _id: 4, email: 'e4' })
      t.equal(await users.findOneAndDelete({ _id: 4 }), null)
      await users.insertOne({ email: 'e4', handle: 'h4' })
      t.same(
        await users.bulkWrite([
          { insertOne: { document: { _id: 10, email: 'e10', handle: 'h10' } } },
          { updateOne: { filter: { _id: 10 }, update: { $set: { email: 'x10' } } } },
          { replaceOne: { filter: { _id: 10 }, replacement: { email: 'e10', handle: 'h10', region: null } } },
          { updateMany: { filter: { _id: 10 }, update: { $set: { n: 1 } } } },
          { deleteOne: { filter: { _id: 10 } } },
        ]),
        { insertedCount: 1, matchedCount: 3, modifiedCount: 3, deletedCount: 1, insertedIds: { 0: 10 } },
      )
      await t.rejects(
        users.insertOne({ _id: 2, email: 'q', handle: 'q', region: 2 }),
        { name: 'MongoServerError', code: 11000 },
        "the server's own",
      )
      t.same(await users.verify(), {
        documents: await main.countDocuments(),
        reservations: (await users.verify()).reservations,
        waiting: 0,
        waitingUntil: null,
        findings: [],
        enforcing: true,
        next: null,
      })
      await users.insertMany([21, 22, 23, 24].map((n) => ({ _id: n, email: `m${n}`, handle: `m${n}` })))
      const removals = [21, 22, 23, 24].map((n) => ({ deleteOne: { filter: { _id: n } } }))
      t.match(await users.bulkWrite(removals, { ordered: false }), { deletedCount: 4 })
      const all = await main.countDocuments()
      const some = await main.countDocuments({ email: /^e/ })
      t.equal((await users.deleteMany({ email: /^e/ })).deletedCount, some)
      t.ok(some > 3)
      t.equal((await users.deleteMany({})).deletedCount, all - some)
      t.equal((await users.verify()).reservations, 0, 'every value is free again')
    })

    t.test(`${place.title}, ${proxies} proxies: backfill, verify, repair and sweep restore consistency`, async (t) => {
      const main = await mainCollection(place)
      await main.insertMany([
        { _id: 1, email: 'a' },
        { _id: 2, email: 'b' },
        { _id: 3, email: 'a' },
        { _id: 4, email: ['x'] },
      ])
      const users = await uniqueCollection(main, {
        unique: ['email'],
        proxies,
        proxy: 'proxy',
        reservationMs: 1000,
      }).init()
      t.match(await users.verify(), { documents: 4, reservations: 0, findings: { length: 4 } })
      const looked: number[] = []
      const report = await users.backfill(({ looked: count }) => looked.push(count))
      t.match(report, {
        documents: 4,
        reserved: 2,
        already: 0,
        changed: 0,
        enforcing: false,
        next: 'of the documents that share a value, change or delete all but one, then run backfill()',
      })
      t.same(looked, [1, 2, 3, 4])
      t.same(report.findings.map(({ kind }) => kind).sort(), ['duplicate', 'invalid'])
      t.match(await users.backfill(), { reserved: 0, already: 2 }, 'again: nothing to do')
      t.match((await users.repair()).left, { length: 2 }, 'repair cannot decide which of two documents is right')
      await main.deleteMany({ _id: { $in: [3, 4] } })
      t.same(
        (await users.verify()).findings.filter(({ kind }) => kind === 'orphaned').length,
        report.findings.some((f) => f.owner === 1) ? 1 : 0,
      )
      await users.repair()
      t.same((await users.verify()).findings, [])

      // Leftovers of crashes and of writers that bypass the library.
      const proxy = main.db.collection<any>('proxy')
      await main.updateOne({ _id: 2 }, { $set: { email: 'c' } })
      const past = new Date(Date.now() - 1)
      await proxy.insertOne({ _id: 8, email: 'left', state: 'reserved', attempt: 1, expiresAt: past })
      await main.insertOne({ _id: 9, email: 'written' })
      await proxy.insertOne({ _id: 9, email: 'written', state: 'reserved', attempt: 2, expiresAt: past })
      await proxy.insertOne({
        _id: 7,
        email: 'held',
        state: 'reserved',
        attempt: 3,
        expiresAt: new Date(Date.now() + 3_600_000),
      })
      await main.insertOne({ _id: 6, email: 'taken' })
      await proxy.insertOne({ _id: 5, email: 'taken', state: 'confirmed', attempt: 4 })
      const { findings, waiting } = await users.verify()
      t.equal(waiting, 1)
      t.same(findings.map(({ kind, owner }) => `${kind} ${String(owner)}`).sort(), [
        'disagreement 6',
        'expired 8',
        'expired 9',
        'orphaned 2',
        'orphaned 5',
        'unreserved 2',
      ])
      t.match(await users.sweep(), { confirmed: 1, released: 1, waiting: 1, waitingUntil: Date })
      t.equal(users.counters.swept, 2)
      await t.rejects(users.insertOne({ _id: 20, email: 'held' }), { ...duplicate, owner: 7, confirmed: false })
      t.match(await users.repair(), {
        left: [],
        waiting: 1,
        waitingUntil: Date,
        enforcing: false,
        next: 'run backfill()',
      })
      t.same((await users.verify()).findings, [])
      await users.insertOne({ _id: 21, email: 'b' })
      await proxy.insertOne({ _id: 22, email: 'wanted', state: 'reserved', attempt: 5, expiresAt: past })
      await users.insertOne({ _id: 23, email: 'wanted' })
      t.pass('the next writer takes what has expired')
    })
  }

  t.test(`${place.title}: writes emit events, also on deployments without transactions`, async (t) => {
    const main = await mainCollection(place)
    const users = await uniqueCollection(main, { unique: ['email'], transactions: 'auto' }).init()
    const events: UniqueEvent[] = []
    for (const name of ['reserved', 'confirmed', 'released', 'compensated', 'conflict'] as const)
      users.on(name, (event) => events.push(event))
    await users.insertOne({ _id: 1, email: 'a' })
    await t.rejects(users.insertOne({ _id: 2, email: 'a' }), { ...duplicate, owner: 1 })
    await users.updateOne({ _id: 1 }, { $set: { email: 'b' } })
    await users.deleteOne({ _id: 1 })
    const hasTransactions = events.every(({ event }) => event === 'conflict')
    if (!hasTransactions) {
      t.same(events[0], { event: 'reserved', owner: 1, fields: ['email'] })
      t.same(users.counters, {
        reserved: 2,
        confirmed: 2,
        released: 2,
        compensated: 0,
        conflict: 1,
        swept: 0,
        unsettled: 0,
      })
    }
    t.same((await users.verify()).findings, [])
  })

  if (!long && place.title === '4.4') continue
  t.test(
    `${place.title}: of many concurrent inserts of a value exactly one succeeds`,
    { timeout: 600_000 },
    async (t) => {
      const clients = 64
      const documents = long ? 10_000 : 300
      const values = documents / 5
      const main = await mainCollection(place)
      const users = await uniqueCollection(main, { unique: ['email'] }).init()
      const outcomes = { inserted: 0, duplicates: 0, others: [] as unknown[] }
      let next = 0
      const client = async (): Promise<void> => {
        while (next < documents) {
          const n = next++
          // Five consecutive inserts, mostly of different clients, have the same value.
          const email = `user${Math.floor(n / 5)}@example.net`
          try {
            await users.insertOne({ email, n, region: n % 7 })
            outcomes.inserted++
          } catch (error) {
            if ((error as Error).name === 'DuplicateValueError') outcomes.duplicates++
            else outcomes.others.push(error)
          }
        }
      }
      await Promise.all(Array.from({ length: clients }, client))
      t.same(outcomes, { inserted: values, duplicates: documents - values, others: [] })
      t.equal(await main.countDocuments(), values)
      t.equal((await main.distinct('email')).length, values)
      if (long) t.same((await users.verify()).findings, [])
    },
  )
}
