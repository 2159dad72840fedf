/** `expectTargeted` in a user's test: through a driver, on both runtimes. */
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { MongoClient, type Document } from 'mongodb'
import { expectTargeted, ShardedCluster, TargetingError, type ExpectedRouting, type TargetedOperation } from 'shardlab'

for (const runtime of ['threads', 'inline'] as const) {
  t.test(`expectTargeted fails when an operation asks more shards than allowed, ${runtime}`, async (t) => {
    const cluster = await ShardedCluster.start({ shards: 3, mongos: 2, runtime })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
    const orders = client.db('shop').collection<{ _id: number; customer: string; total: number }>('orders')
    const documents = Array.from({ length: 30 }, (_, i) => ({ _id: i, customer: `c${i % 10}`, total: i }))
    t.equal(
      (await expectTargeted(cluster, 3, () => orders.insertMany(documents))).insertedCount,
      30,
      'the result is passed on',
    )
    t.equal(
      (await expectTargeted(cluster, 1, () => orders.find({ customer: 'c3' }))).length,
      3,
      'a cursor is read to its end',
    )
    t.equal((await expectTargeted(cluster, 1, () => orders.find({ customer: 'c3' }).batchSize(1).toArray())).length, 3)
    t.equal((await expectTargeted(cluster, 'broadcast', () => orders.find({ total: { $gt: 20 } }))).length, 9)
    t.equal(
      (await expectTargeted(cluster, 1, () => orders.updateOne({ customer: 'c3' }, { $inc: { total: 1 } })))
        .modifiedCount,
      1,
    )
    t.equal(
      (await expectTargeted(cluster, { kind: 'broadcast', shards: 3 }, () => orders.deleteMany({ total: { $lt: 3 } })))
        .deletedCount,
      3,
    )
    t.equal(
      (await expectTargeted(cluster, 1, () => orders.aggregate([{ $match: { customer: 'c3' } }, { $count: 'n' }])))
        .length,
      1,
    )
    await expectTargeted(cluster, 'unsharded', () => client.db('shop').collection('plain').find())

    const failing: [TargetedOperation<unknown>, ExpectedRouting, string | RegExp][] = [
      [
        () => orders.find({ total: 5 }),
        1,
        'find on shop.orders asked 3 shards (shard01, shard02, shard03), a broadcast, because it does not constrain the shard key {"customer":"hashed"}; expected 1 shard by the shard key',
      ],
      [
        () => orders.find({ customer: 'c3' }),
        2,
        /^find on shop\.orders asked 1 shard \(shard0\d\), because its bounds in the shard key \{"customer":"hashed"\} are \{"customer":-?\d+\}, which overlap 1 chunk; expected 2 shards by the shard key$/,
      ],
      [
        () => client.db('shop').collection('plain').find(),
        3,
        'find on shop.plain asked 1 shard (shard01), because the collection is not sharded; expected 3 shards by the shard key',
      ],
      [
        () => client.db('shop').collection('plain').find(),
        1,
        /because the collection is not sharded; expected 1 shard by/,
      ],
      [() => orders.find({ customer: 'c3' }), 'broadcast', /expected the kind broadcast$/],
      [() => orders.find({ total: 5 }), { kind: 'targeted', shards: 1 }, /expected the kind targeted on 1 shard$/],
      [() => Promise.resolve(), 1, 'nothing was routed to a collection; expected 1 shard by the shard key'],
      [() => client.db('config').collection('shards').find(), 1, /^nothing was routed/],
    ]
    for (const [operation, expected, message] of failing) {
      const error = await expectTargeted(cluster, expected, operation).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      if (!(error instanceof TargetingError)) throw new Error('it should have failed')
      t.match(error.message, message)
    }
    await t.rejects(
      expectTargeted(cluster, 1, () => Promise.reject(new Error('of the operation'))),
      { message: 'of the operation' },
    )
    t.equal(cluster.listenerCount('routed'), 0, 'no listener is left')
  })
}

t.test('with one chunk, operations without the shard key are broadcasts and fail', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', emulate: '8.0' })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 1 } })
  const orders = client.db('shop').collection('orders')
  await expectTargeted(cluster, 1, () => orders.insertOne({ customer: 'ada', total: 1 }))
  const set = { $set: { paid: true } }
  const without: Record<string, TargetedOperation<unknown>> = {
    find: () => orders.find({ total: 1 }),
    countDocuments: () => orders.countDocuments({ total: 1 }),
    distinct: () => orders.distinct('total'),
    updateOne: () => orders.updateOne({ total: 1 }, set),
    updateMany: () => orders.updateMany({ total: 1 }, set),
    findOneAndUpdate: () => orders.findOneAndUpdate({ total: 1 }, set),
    bulkWrite: () =>
      orders.bulkWrite([{ deleteOne: { filter: { customer: 'bob' } } }, { deleteMany: { filter: { total: 7 } } }]),
    deleteMany: () => orders.deleteMany({ total: 7 }),
    deleteOne: () => orders.deleteOne({ total: 1 }),
  }
  for (const [name, operation] of Object.entries(without)) {
    await t.rejects(
      expectTargeted(cluster, 1, operation),
      { message: /a broadcast, because it does not constrain/ },
      name,
    )
    await t.resolves(expectTargeted(cluster, 'broadcast', operation), name)
  }
})

t.test('wrong arguments are refused with one sentence', async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline' })
  const operation = async () => {}
  const wrong: [unknown[], RegExp][] = [
    [[cluster, 0, operation], /^expectTargeted: 0 must be a number of shards from 1, a kind \(targeted, multi/],
    [[cluster, '1', operation], /"1" must be/],
    [[cluster, operation], /^expectTargeted: undefined must be/],
    [[cluster, {}, operation], /\{\} must be/],
    [[{}, 1, operation], /the first argument must be a ShardedCluster/],
    [[cluster, 1, Promise.resolve()], /the third argument must be a function/],
    [[cluster, 1, () => {}], /must return a promise or a cursor/],
  ]
  for (const [args, message] of wrong) {
    const call = expectTargeted as (...args: unknown[]) => Promise<unknown>
    await t.rejects(call(...args), { name: 'OptionError', message })
  }
})

t.test("the guide's table shows the shards that each operation asks", async (t) => {
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', emulate: '7.0' })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
  const orders = client.db('shop').collection<Document>('orders')
  await orders.insertMany(
    Array.from({ length: 20 }, (_, i) => ({ _id: i, customer: i % 2 === 0 ? 'ada' : `c${i}`, total: i })) as never[],
  )
  const paid = { $set: { paid: true } }
  const id = { customer: 'ada', _id: 7 } as Document
  const operations: Record<string, readonly [number, TargetedOperation<unknown>]> = {
    "find({ customer: 'ada' })": [1, () => orders.find({ customer: 'ada' })],
    "find({ customer: 'ada', total: { $gt: 5 } })": [1, () => orders.find({ customer: 'ada', total: { $gt: 5 } })],
    "find({ $and: [{ customer: 'ada' }, { total: 5 }] })": [
      1,
      () => orders.find({ $and: [{ customer: 'ada' }, { total: 5 }] }),
    ],
    "find({ $expr: { $eq: ['$customer', 'ada'] } })": [1, () => orders.find({ $expr: { $eq: ['$customer', 'ada'] } })],
    'find({ total: 5 })': [3, () => orders.find({ total: 5 })],
    "find({ $or: [{ customer: 'ada' }, { total: 5 }] })": [
      3,
      () => orders.find({ $or: [{ customer: 'ada' }, { total: 5 }] }),
    ],
    "find({ customer: { $gte: 'a' } })": [3, () => orders.find({ customer: { $gte: 'a' } })],
    "find({ customer: { $ne: 'ada' } })": [3, () => orders.find({ customer: { $ne: 'ada' } })],
    "find({ customer: 'ada' }).collation({ locale: 'en', strength: 2 })": [
      3,
      () => orders.find({ customer: 'ada' }).collation({ locale: 'en', strength: 2 }),
    ],
    "countDocuments({ customer: 'ada' })": [1, () => orders.countDocuments({ customer: 'ada' })],
    'estimatedDocumentCount()': [3, () => orders.estimatedDocumentCount()],
    "distinct('total', { customer: 'ada' })": [1, () => orders.distinct('total', { customer: 'ada' })],
    "aggregate([{ $match: { customer: 'ada' } }, { $group: … }])": [
      1,
      () => orders.aggregate([{ $match: { customer: 'ada' } }, { $group: { _id: null } }]),
    ],
    "aggregate([{ $group: … }, { $match: { _id: 'ada' } }])": [
      3,
      () => orders.aggregate([{ $group: { _id: '$customer' } }, { $match: { _id: 'ada' } }]),
    ],
    "insertOne({ customer: 'ada' })": [1, () => orders.insertOne({ customer: 'ada' })],
    "updateOne({ customer: 'ada', _id: 7 }, …)": [1, () => orders.updateOne(id, paid)],
    'updateOne({ _id: 7 }, …)': [3, () => orders.updateOne({ _id: 7 } as Document, paid)],
    "updateMany({ customer: 'ada' }, …)": [1, () => orders.updateMany({ customer: 'ada' }, paid)],
    'updateMany({ total: { $gt: 5 } }, …)': [3, () => orders.updateMany({ total: { $gt: 5 } }, paid)],
    "deleteOne({ customer: 'ada', total: 5 })": [1, () => orders.deleteOne({ customer: 'ada', total: 5 })],
    'deleteMany({ total: 5 })': [3, () => orders.deleteMany({ total: 5 })],
    "findOneAndUpdate({ customer: 'ada', _id: 7 }, …)": [1, () => orders.findOneAndUpdate(id, paid)],
  }
  const guide = await readFile(new URL('../../../docs/guides/is-my-query-targeted.md', import.meta.url), 'utf8')
  const rows = [...guide.matchAll(/^\| `(.+?)` \| (\d) \|/gm)].map(
    ([, operation, count]) => [operation!, Number(count)] as const,
  )
  t.same(
    rows.map(([operation]) => operation),
    Object.keys(operations),
    'each row has its operation',
  )
  for (const [operation, count] of rows) {
    const [wanted, run] = operations[operation]!
    t.equal(count, wanted, operation)
    await t.resolves(
      expectTargeted(cluster, { kind: count === 1 ? 'targeted' : 'broadcast', shards: count }, run),
      operation,
    )
  }
})
