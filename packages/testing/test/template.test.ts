import t from 'tap'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BSON, Decimal128, Long, MongoClient } from 'mongodb'
import { expectShards, expectTargeted, TargetingError, template, useCluster, type RunnerHooks } from '../src/index.js'

interface Order {
  readonly _id: number
  readonly customer: string
}

let fills = 0

async function fill({ uri }: { readonly uri: string }): Promise<void> {
  fills++
  const client = await MongoClient.connect(uri)
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
  await client
    .db('shop')
    .collection<Order>('orders')
    .insertMany([
      { _id: 1, customer: 'ada' },
      { _id: 2, customer: 'bob' },
    ])
  await client.close()
}

const options = { shards: 2, fill }

async function insertThird(uri: string): Promise<number> {
  const client = await MongoClient.connect(uri)
  const orders = client.db('shop').collection<Order>('orders')
  await orders.insertOne({ _id: 3, customer: 'eve' })
  const count = await orders.countDocuments()
  await client.close()
  return count
}

t.test('a template is filled once, and its forks share nothing', async (t) => {
  const [one, two] = await Promise.all([template(options), template(options)])
  t.equal(one, two)
  await using first = await one.fork()
  await using second = await two.fork()
  t.same(await Promise.all([insertThird(first.uri), insertThird(second.uri)]), [3, 3])
  t.equal(fills, 1)
  await using third = await one.fork()
  t.equal(await insertThird(third.uri), 3)
})

t.test('a template that cannot be filled rejects each time', async (t) => {
  let attempts = 0
  const broken = {
    shards: 1,
    fill: () => {
      attempts++
      throw new Error('no data')
    },
  }
  await t.rejects(template(broken), /^no data$/)
  await t.rejects(template(broken), /^no data$/)
  t.equal(attempts, 2)
  await t.rejects(template({ shards: -1 }), { name: 'OptionError' })
})

/** Runs hooks as a runner does. */
class ToyRunner implements RunnerHooks {
  readonly hooks: Record<string, (() => Promise<void>)[]> = { beforeEach: [], afterEach: [], before: [], after: [] }
  beforeEach = (run: () => Promise<void>): void => void this.hooks['beforeEach']!.push(run)
  afterEach = (run: () => Promise<void>): void => void this.hooks['afterEach']!.push(run)
  before = (run: () => Promise<void>): void => void this.hooks['before']!.push(run)
  after = (run: () => Promise<void>): void => void this.hooks['after']!.push(run)

  async run(name: string): Promise<void> {
    for (const hook of this.hooks[name]!) await hook()
  }
}

t.test('useCluster gives each test, or each file, a cluster', async (t) => {
  const runner = new ToyRunner()
  const shop = useCluster(runner, options)
  t.throws(() => shop.uri, /only while a test runs/)
  for (const name of ['first', 'second']) {
    await runner.run('beforeEach')
    t.equal(await insertThird(shop.uri), 3, name)
    const { cluster } = shop
    await runner.run('afterEach')
    await t.rejects(cluster.addShard(), /has been stopped/)
  }
  const ofFile = useCluster(runner, { ...options, per: 'file' })
  await runner.run('before')
  t.equal(await insertThird(ofFile.uri), 3)
  await using other = await ofFile.fork()
  t.equal(await insertThird(other.uri), 3)
  await runner.run('after')
  t.throws(() => useCluster({}), /^the runner has no beforeEach: pass the module/)
  t.throws(() => useCluster(runner, { per: 'suite' as 'test' }), /^per is "suite"; use test or file\.$/)
  t.equal(fills, 1, 'with the options of other tests, the same template')
})

t.test('expectShards counts the shards of a broadcast, which expectTargeted refuses', async (t) => {
  await using cluster = await (await template(options)).fork()
  await using client = await MongoClient.connect(cluster.uri)
  const orders = client.db('shop').collection<Order>('orders')
  t.match(await expectShards(cluster, 2, () => orders.find({ _id: 1 })), [{ customer: 'ada' }])
  t.match(await expectShards(cluster, 1, () => orders.findOne({ customer: 'ada' })), { _id: 1 })
  await t.rejects(
    expectShards(cluster, 1, () => orders.find({ _id: 1 })),
    TargetingError,
  )
  await t.rejects(
    expectTargeted(cluster, 2, () => orders.find({ _id: 1 })),
    TargetingError,
  )
  await t.rejects(
    expectShards(cluster, 1, () => Promise.reject(new Error('of the application'))),
    /of the application/,
  )
})

t.test('a dump is loaded with indexes, options and types, and a snapshot file is one, too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-dump-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'shop'))
  const documents = [
    { _id: 1, amount: Decimal128.fromString('1.10'), count: Long.fromNumber(5), double: new BSON.Double(2) },
    { _id: 2, pattern: new BSON.BSONRegExp('a', 'i') },
  ]
  const bytes = documents.map((document) => BSON.serialize(document, { promoteValues: false } as object))
  writeFileSync(join(folder, 'shop', 'a%2Fb.bson'), Buffer.concat(bytes))
  const metadata = {
    options: { validator: { amount: { $ne: 'x' } } },
    indexes: [
      { v: { $numberInt: '2' }, key: { _id: { $numberInt: '1' } }, name: '_id_' },
      { v: { $numberInt: '2' }, key: { amount: { $numberInt: '-1' } }, name: 'byAmount', unique: true },
    ],
  }
  writeFileSync(join(folder, 'shop', 'a%2Fb.metadata.json'), JSON.stringify(metadata))
  const dumped = await template({ shards: 1, dump: folder })
  const path = join(folder, 'filled.snapshot')
  await dumped.save(path)
  for (const source of [dumped, await template({ from: path })]) {
    await using cluster = await source.fork()
    const client = await MongoClient.connect(cluster.uri, { promoteValues: false })
    const collection = client.db('shop').collection<{ _id: number }>('a/b')
    const found = await collection.find({}, { sort: { _id: 1 }, raw: true }).toArray()
    t.same(
      found.map((document) => Buffer.from(document as unknown as Uint8Array)),
      bytes.map((each) => Buffer.from(each)),
    )
    const [, index] = await collection.indexes()
    t.match(JSON.parse(JSON.stringify(index)), { name: 'byAmount', unique: true })
    await client.close()
  }
})
