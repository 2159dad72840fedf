/**
 * The manual's "Enforce Unique Keys for Sharded Collections": the procedure and each of its
 * considerations, with the library.
 */
import t, { type Test } from 'tap'
import {
  DuplicateValueError,
  MisconfiguredProxyError,
  NotInitializedError,
  RefusedOperationError,
  uniqueCollection,
} from '@shardlab/unique'
import { leave, mainCollection, places, type Loose } from './support/places.js'

t.teardown(leave)

const isDuplicate = (
  t: Test,
  promise: Promise<unknown>,
  field: string,
  value: unknown,
  owner: unknown,
): Promise<unknown> => t.rejects(promise, { name: 'DuplicateValueError', code: 11000, field, value, owner })

const config = (main: Loose, name: string) =>
  main.db.client
    .db('config')
    .collection<{ _id: string; key: object; unique: boolean }>('collections')
    .findOne({ _id: `${main.dbName}.${name}` })

for (const place of await places()) {
  for (const proxies of ['sharded', 'unsharded'] as const) {
    t.test(`${place.title}, ${proxies} proxies: the manual's procedure works`, async (t) => {
      const main = await mainCollection(place)
      const users = uniqueCollection(main, { unique: ['email'], proxies, proxy: 'proxy' })
      await t.rejects(users.insertOne({ email: 'x' }), NotInitializedError, 'no write before init()')
      await users.init()
      await users.init()
      const { insertedId } = await users.insertOne({ email: 'example@example.net', region: 1 })
      const proxy = main.db.collection('proxy')
      t.match(await proxy.findOne({ email: 'example@example.net' }), {
        _id: insertedId,
        state: 'confirmed',
        expiresAt: undefined,
      })
      t.match(await main.findOne({ _id: insertedId }), { email: 'example@example.net', region: 1 })
      await isDuplicate(
        t,
        users.insertOne({ email: 'example@example.net', region: 2 }),
        'email',
        'example@example.net',
        insertedId,
      )
      t.equal(await main.countDocuments(), 1, 'the second document was not written')
      if (place.sharded) {
        const entry = await config(main, 'proxy')
        if (proxies === 'sharded') t.match(entry, { key: { email: 1 }, unique: true })
        else t.notOk(entry?.unique, 'not sharded')
      }
      const index = (await proxy.indexes()).find(({ key }) => 'email' in key)
      t.equal(index?.['unique'], true)
      await main.db.dropDatabase()
    })

    t.test(`${place.title}, ${proxies} proxies: several fields and compound fields are unique`, async (t) => {
      const main = await mainCollection(place)
      const users = await uniqueCollection(main, {
        unique: ['email', { fields: ['tenant', 'handle'] }, 'contact.phone'],
        proxies,
      }).init()
      const names = (await main.db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).sort()
      t.same(
        names,
        proxies === 'sharded'
          ? [
              ...(place.sharded ? ['information'] : []),
              'information.unique.contact.phone',
              'information.unique.email',
              'information.unique.tenant_handle',
            ]
          : [...(place.sharded ? ['information'] : []), 'information.unique'],
        'one proxy collection for every field where they are sharded, else one',
      )
      await users.insertOne({ _id: 1, email: 'a', tenant: 1, handle: 'x', contact: { phone: 1 }, region: 1 })
      await users.insertOne({ _id: 2, email: 'b', tenant: 2, handle: 'x', contact: { phone: 2 }, region: 2 })
      await isDuplicate(
        t,
        users.insertOne({ _id: 3, email: 'c', tenant: 1, handle: 'x', contact: { phone: 3 } }),
        'tenant,handle',
        [1, 'x'],
        1,
      )
      await isDuplicate(
        t,
        users.insertOne({ _id: 3, email: 'c', tenant: 3, handle: 'x', contact: { phone: 2 } }),
        'contact.phone',
        2,
        2,
      )
      await users.insertOne({ _id: 3, email: 'c', tenant: 3, handle: 'x', contact: { phone: 3 } })
      t.equal((await users.updateOne({ _id: 1 }, { $set: { handle: 'y' }, $inc: { changes: 1 } })).modifiedCount, 1)
      await isDuplicate(
        t,
        users.updateOne({ _id: 2 }, { $set: { tenant: 1, handle: 'y' } }),
        'tenant,handle',
        [1, 'y'],
        1,
      )
      await users.updateOne({ _id: 2 }, { $set: { tenant: 1, handle: 'x' } })
      t.equal((await users.deleteOne({ _id: 1 })).deletedCount, 1)
      await users.insertOne({ _id: 4, email: 'a', tenant: 1, handle: 'y', contact: { phone: 1 }, region: 9 })
      t.same((await users.verify()).findings, [])
      t.same((await users.verify()).documents, 3)
    })

    t.test(
      `${place.title}, ${proxies} proxies: null and missing are one value, unless missing fields are skipped`,
      async (t) => {
        const main = await mainCollection(place)
        const users = await uniqueCollection(main, { unique: ['email'], proxies, proxy: 'proxy' }).init()
        await users.insertOne({ _id: 1 })
        await isDuplicate(t, users.insertOne({ _id: 2 }), 'email', null, 1)
        await isDuplicate(t, users.insertOne({ _id: 2, email: null }), 'email', null, 1)
        await isDuplicate(t, users.insertOne({ _id: 2, email: undefined }), 'email', null, 1)
        await users.updateOne({ _id: 1 }, { $set: { email: 'a' } })
        await users.insertOne({ _id: 2 })
        await users.updateOne({ _id: 1 }, { $unset: { email: '' } }).then(
          () => t.fail('missing twice'),
          (error: unknown) => t.type(error, DuplicateValueError),
        )
        t.same((await users.verify()).findings, [])

        const some = await uniqueCollection(await mainCollection(place), {
          unique: [{ fields: 'email', missing: 'skip' }],
          proxies,
        }).init()
        await some.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3, email: 'a' }])
        await isDuplicate(t, some.insertOne({ _id: 4, email: 'a' }), 'email', 'a', 3)
        await some.updateOne({ _id: 3 }, { $unset: { email: '' } })
        await some.updateOne({ _id: 1 }, { $set: { email: 'a' } })
        t.same((await some.verify()).findings, [])
      },
    )
  }

  t.test(`${place.title}: collation and normalize define equality`, async (t) => {
    const main = await mainCollection(place)
    const collation = { locale: 'en', strength: 2 }
    const users = await uniqueCollection(main, {
      unique: [{ fields: 'email', collation }],
      proxies: 'unsharded',
    }).init()
    await users.insertOne({ _id: 1, email: 'Bob' })
    await isDuplicate(t, users.insertOne({ _id: 2, email: 'bob' }), 'email', 'bob', 1)
    await users.updateOne({ _id: 1 }, { $set: { email: 'BOB' } })
    await isDuplicate(t, users.insertOne({ _id: 2, email: 'bob' }), 'email', 'bob', 1)
    t.same((await users.verify()).findings, [], 'the same value by the collation')
    t.throws(() => uniqueCollection(main, { unique: [{ fields: 'email', collation }], proxies: 'sharded' }), {
      name: 'RefusedOperationError',
      message: /use normalize/,
    })
    const other = await mainCollection(place)
    const folded = await uniqueCollection(other, {
      unique: [{ fields: 'email', normalize: (email: string) => email.toLowerCase() }],
    }).init()
    await folded.insertOne({ _id: 1, email: 'Bob' })
    await isDuplicate(t, folded.insertOne({ _id: 2, email: 'bOb' }), 'email', 'bob', 1)
    t.equal((await other.findOne({ _id: 1 }))?.email, 'Bob', 'the document has the value as it was given')
    await folded.updateOne({ _id: 1 }, { $set: { email: 'BOB' } })
    t.same((await folded.verify()).findings, [])
  })

  t.test(`${place.title}: a misconfigured proxy collection is refused`, async (t) => {
    const main = await mainCollection(place)
    const { db } = main
    const refused = (
      proxy: string,
      proxies: 'sharded' | 'unsharded',
      message: RegExp,
      unique: readonly string[] = ['email'],
    ): Promise<unknown> =>
      t.rejects(uniqueCollection(main, { unique, proxies, proxy }).init(), {
        name: MisconfiguredProxyError.name,
        message,
      })
    await db.collection('plain').createIndex({ email: 1 })
    await refused('plain', 'unsharded', /is not unique/)
    await refused('plain', 'sharded', /is not unique/)
    await db.collection('ttl').createIndex({ expiresAt: 1 }, { expireAfterSeconds: 60 })
    await refused('ttl', 'unsharded', /TTL/)
    await db
      .collection('partial')
      .createIndex({ email: 1 }, { unique: true, partialFilterExpression: { email: { $gt: 1 } } })
    await refused('partial', 'unsharded', /partial/)
    await db.collection('dense').createIndex({ email: 1 }, { unique: true })
    await refused('dense', 'unsharded', /not sparse/, ['email', 'handle'])
    await db.createCollection('capped', { capped: true, size: 4096 })
    await refused('capped', 'unsharded', /capped/)
    await db.createCollection('collated', { collation: { locale: 'en' } })
    await refused('collated', 'unsharded', /default collation/)
    if (place.sharded) {
      const admin = place.client.db('admin')
      const shard = (name: string, options: object) =>
        admin.command({ shardCollection: `${db.databaseName}.${name}`, ...options })
      await shard('byid', { key: { _id: 1 } })
      await refused('byid', 'sharded', /is sharded by \{"_id":1\}/)
      await refused('byid', 'unsharded', /use proxies: 'sharded'/)
      await shard('loose', { key: { email: 1 } })
      await refused('loose', 'sharded', /without unique: true/)
      await shard('hashed', { key: { email: 'hashed' } })
      await refused('hashed', 'sharded', /is sharded by/)
    }
    await db.createCollection('folded', { collation: { locale: 'en' } })
    await t.rejects(
      uniqueCollection(db.collection('folded'), { unique: ['email'], proxies: 'unsharded' }).init(),
      /default collation/,
    )
    await db.collection('byhand').createIndex({ email: 1 }, { unique: true })
    await db.collection<any>('byhand').insertOne({ _id: 7, email: 'old' })
    await main.insertOne({ _id: 7, email: 'old' })
    const users = await uniqueCollection(main, { unique: ['email'], proxies: 'unsharded', proxy: 'byhand' }).init()
    await isDuplicate(t, users.insertOne({ email: 'old' }), 'email', 'old', 7)
    t.same((await users.verify()).findings, [], 'proxies that were made by hand are confirmed')
    await users.updateOne({ _id: 7 }, { $set: { email: 'new' } })
    await users.insertOne({ email: 'old' })
    t.same((await users.verify()).findings, [])
  })

  t.test(`${place.title}: writes that cannot be made safe are refused`, async (t) => {
    const main = await mainCollection(place)
    const users = await uniqueCollection(main, { unique: ['email', 'contact.phone'], proxies: 'unsharded' }).init()
    await users.insertOne({ _id: 1, email: 'a', contact: { phone: 1 }, n: 1 })
    const refused = (promise: Promise<unknown>, message: RegExp): Promise<unknown> =>
      t.rejects(promise, { name: RefusedOperationError.name, message })
    t.throws(() => uniqueCollection(main.db.collection('x', { writeConcern: { w: 0 } }), { unique: ['email'] }), /w: 0/)
    await refused(users.insertOne({ email: 'b' }, { writeConcern: { w: 0 } }), /w: 0/)
    await refused(users.updateMany({}, { $set: { email: 'b' } }), /updateOne for each/)
    await refused(users.updateOne({ _id: 2 }, { $set: { email: 'b' } }, { upsert: true }), /insertOne/)
    await refused(users.updateOne({ _id: 1 }, { $inc: { email: 1 } }), /\$inc of email/)
    await refused(users.updateOne({ _id: 1 }, { $rename: { n: 'email' } }), /\$rename/)
    await refused(users.updateOne({ _id: 1 }, { $push: { 'contact.phone': 1 } as any }), /\$push/)
    await refused(users.updateOne({ _id: 1 }, { $set: { 'email.part': 1 } }), /whole value of email/)
    await refused(users.updateOne({ _id: 1 }, [{ $set: { email: '$n' } }]), /pipeline/)
    await refused(users.updateOne({ _id: 1 }, [{ $replaceWith: { a: 1 } }]), /pipeline/)
    await refused(
      users.updateOne({ email: 'A' }, { $set: { email: 'b' } }, { collation: { locale: 'en' } }),
      /collation/,
    )
    await refused(
      users.bulkWrite([
        { insertOne: { document: { _id: 5, email: 'e' } } },
        { updateMany: { filter: {}, update: { $set: { email: 1 } } } },
      ]),
      /updateMany/,
    )
    t.equal(await main.findOne({ _id: 5 }), null, 'a refused list changes nothing')
    await t.rejects(users.insertOne({ email: ['a', 'b'] }), { name: 'InvalidValueError', message: /array/ })
    await t.rejects(users.insertOne({ email: /a/ }), { name: 'InvalidValueError', message: /regular expression/ })
    const session = place.client.startSession()
    session.startTransaction()
    const reserving = uniqueCollection(main, {
      unique: ['email', 'contact.phone'],
      proxies: 'unsharded',
      transactions: 'never',
    })
    await reserving.init()
    await refused(reserving.insertOne({ email: 'z' }, { session }), /use transactions: 'auto'/)
    await session.endSession()
    t.throws(() => uniqueCollection(main, { unique: [] }), RefusedOperationError)
    for (const wrong of [{ transactions: 'always' as never }, { busyMs: Number.NaN }, { reservationMs: 1 }])
      t.throws(
        () => uniqueCollection(main, { unique: ['email'], ...wrong }),
        RefusedOperationError,
        JSON.stringify(wrong),
      )
    t.throws(() => uniqueCollection(main, { unique: ['_id'] }), /_id is always unique/)
    t.throws(() => uniqueCollection(main, { unique: ['state'] }), /proxy documents use/)
    t.throws(() => uniqueCollection(main, { unique: ['email', 'handle'], proxy: 'one' }), /set proxy for each field/)
    t.throws(
      () => uniqueCollection(main, { unique: ['a', { fields: ['a', 'b'] }], proxies: 'unsharded' }),
      /use proxies: 'sharded'/,
    )
    t.equal((await users.updateMany({}, { $set: { n: 2 } })).modifiedCount, 1, 'other fields may be written as ever')
    t.equal((await users.updateOne({ _id: 1 }, [{ $set: { n: 3 } }])).modifiedCount, 1)
    t.same((await users.verify()).findings, [])
    t.equal(await main.countDocuments(), 1)
  })
}
