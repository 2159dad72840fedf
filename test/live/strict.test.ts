/** `up --strict`: input that lacks something is refused; everything else works as without it. */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { mongoshOn } from '../support/mongosh.js'
import { up } from '../support/up.js'

t.test('a driver works on a strict cluster', async (t) => {
  const running = await up('--port', '0', '--shards', '2', '--strict')
  const client = await MongoClient.connect(running.ready.uri)
  t.teardown(async () => {
    await client.close()
    await running.stop()
  })
  const admin = client.db('admin')
  await admin.command({ shardCollection: 'app.things', key: { _id: 'hashed' } })
  const things = client.db('app').collection<{ _id: number; n: number }>('things')
  await things.createIndex({ n: 1 })
  await things.insertMany(Array.from({ length: 40 }, (_, i) => ({ _id: i, n: i % 4 })))
  await things.updateMany({ n: 3 }, { $inc: { n: 1 } })
  await things.deleteOne({ _id: 0 })
  t.equal((await things.findOneAndUpdate({ _id: 3, n: 4 }, { $set: { n: 5 } }))?._id, 3)
  t.equal(await things.countDocuments({ n: /^x/ } as object), 0)
  t.same(await things.aggregate([{ $group: { _id: '$n', count: { $sum: 1 } } }, { $sort: { _id: 1 } }]).toArray(), [
    { _id: 0, count: 9 },
    { _id: 1, count: 10 },
    { _id: 2, count: 10 },
    { _id: 4, count: 9 },
    { _id: 5, count: 1 },
  ])
  await client.db('app').createCollection('capped', { capped: true, size: 4096 })

  const refused = (what: string) => ({ code: 115, message: new RegExp(`${what} is refused in strict mode`) })
  await t.rejects(admin.command({ serverStatus: 1 }), refused('serverStatus'))
  await t.rejects(admin.command({ hostInfo: 1 }), refused('hostInfo'))
  t.match(await admin.command({ balancerStop: 1 }), { ok: 1 })

  const [shard] = running.ready.shards
  const direct = await MongoClient.connect(shard!.uri)
  t.teardown(() => direct.close())
  await t.rejects(direct.db('admin').command({ serverStatus: 1 }), refused('serverStatus'))
  t.match(await direct.db('admin').command({ shardingState: 1 }), { shardName: shard!.id, ok: 1 })
})

t.test('mongosh works on a strict cluster', async (t) => {
  const running = await up('--port', '0', '--shards', '2', '--strict')
  t.teardown(() => running.stop())
  const evaluate = mongoshOn(running.ready.uri)
  if (evaluate === null)
    return t.pass('skipped: mongosh is not installed in test/clients', { skip: 'mongosh is not installed' })
  const { code, stdout, stderr } = await evaluate(`
    db.things.insertOne({ _id: 1 })
    print(JSON.stringify(db.things.find().toArray()))
    try { db.serverStatus() } catch (error) { print(error.code) }`)
  t.equal(code, 0, stderr)
  t.same(stdout.trim().split('\n').slice(-2), ['[{"_id":1}]', '115'])
})
