/** Dumps in the format of mongodump: what a cluster exports, another one imports. */
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Decimal128, Long, MongoClient, type Db, type Document } from 'mongodb'
import { ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { connected } from '../support/connected.js'
import { shardlab, up } from '../support/up.js'

interface Any extends Document {
  _id: any
}

const newFolder = async (): Promise<string> => join(await mkdtemp(join(tmpdir(), 'shardlab-dump-')), 'data')

async function open(t: Test, options: ClusterOptions = {}) {
  const made = await connected({ ...(options.topology === undefined ? { shards: 2 } : {}), ...options })
  t.teardown(() => made[Symbol.asyncDispose]())
  return { ...made, app: made.client.db('app') }
}

async function fill(app: Db): Promise<void> {
  await app.createCollection('rules', { validator: { n: { $gte: 0 } }, validationAction: 'error' })
  await app.collection<Any>('rules').insertOne({ _id: 1, n: 1 })
  await app.createCollection('log', { capped: true, size: 10_000, max: 5 })
  await app.collection('log').insertMany([1, 2, 3].map((n) => ({ n })))
  await app.createCollection('empty')
  await app.createCollection('é'.repeat(45))
  await app.createCollection('french', { collation: { locale: 'fr' } })
  await app.collection('french').createIndex({ a: 1 }, { collation: { locale: 'simple' }, name: 'simple' })
  await app.collection('french').createIndex({ a: 1 }, { name: 'collated' })
  await app
    .collection('odd/name 100%: +é')
    .insertOne({ b: 1, '10': 2, '2': 3, long: Long.MAX_VALUE, d: new Decimal128('1E+3') })
  await app.collection('indexed').createIndex({ '10': 1, '2': -1 }, { unique: true, name: 'numbers' })
  await app.collection('indexed').createIndex({ a: 1 }, { partialFilterExpression: { a: { $gt: 5 } } })
  await app.createCollection('bigger', { viewOn: 'rules', pipeline: [{ $match: { n: { $gt: 0 } } }] })
}

async function shard(client: MongoClient): Promise<void> {
  const admin = client.db('admin')
  // Chunks stay as they are until they are compared.
  await admin.command({ balancerStop: 1 })
  await admin.command({ shardCollection: 'app.orders', key: { customer: 1, _id: 1 } })
  const orders = Array.from({ length: 5000 }, (_, i) => ({ _id: i as never, customer: i % 100, text: 'x'.repeat(100) }))
  await client.db('app').collection('orders').insertMany(orders)
  for (const customer of [20, 40, 60, 80]) await admin.command({ split: 'app.orders', middle: { customer, _id: 0 } })
  await admin.command({ moveChunk: 'app.orders', find: { customer: 30, _id: 0 }, to: 'shard02' })
  await admin.command({ shardCollection: 'app.users', key: { name: 'hashed' } })
  await client
    .db('app')
    .collection('french')
    .createIndex({ b: 1 }, { collation: { locale: 'simple' } })
  await admin.command({ shardCollection: 'app.french', key: { b: 1 }, collation: { locale: 'simple' } })
  await client
    .db('app')
    .collection('users')
    .insertMany(Array.from({ length: 100 }, (_, i) => ({ name: `user ${i}` })))
  await admin.command({ addShardToZone: 'shard01', zone: 'east' })
  const range = { min: { customer: 60, _id: 0 }, max: { customer: 80, _id: 0 } }
  await admin.command({ updateZoneKeyRange: 'app.orders', ...range, zone: 'east' })
}

const sorted = (documents: readonly Document[]): Document[] =>
  documents.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

/** What clients see of a database. */
async function contentOf(db: Db): Promise<Document> {
  const content: Document = {}
  for (const { name, type, options } of (await db.listCollections().toArray()) as Document[]) {
    const documents = sorted(await db.collection(name).find().toArray())
    const indexes = type === 'view' ? [] : sorted(await db.collection(name).indexes())
    content[name] = { type, options, indexes, documents }
  }
  return content
}

async function chunksOf(client: MongoClient, ns: string): Promise<Document[]> {
  const collection = await client
    .db('config')
    .collection<Any>('collections')
    .findOne({ _id: ns as never })
  const chunks = await client
    .db('config')
    .collection('chunks')
    .find({ uuid: collection!['uuid'] })
    .sort({ min: 1 })
    .toArray()
  return chunks.map(({ min, max, shard: on }) => ({ min, max, on }))
}

t.test('a sharded cluster exports, and another one imports its collections, chunks and zones', async (t) => {
  const from = await open(t)
  await fill(from.app)
  await shard(from.client)
  const folder = await newFolder()
  t.match(await from.cluster.exportDump(folder), { collections: 10, documents: 5105 })
  const to = await open(t)
  await to.admin.command({ balancerStop: 1 })
  t.match(await to.cluster.importDump(folder), { collections: 10, documents: 5105 })
  t.same(await contentOf(to.app), await contentOf(from.app))
  for (const ns of ['app.orders', 'app.users'])
    t.same(await chunksOf(to.client, ns), await chunksOf(from.client, ns), ns)
  for (const name of ['tags', 'databases'])
    t.same(
      (await to.client.db('config').collection(name).find().toArray())
        .map(({ ns, tag, _id, primary }) => [ns, tag, tag === undefined && _id, primary])
        .map(String)
        .sort(),
      (await from.client.db('config').collection(name).find().toArray())
        .map(({ ns, tag, _id, primary }) => [ns, tag, tag === undefined && _id, primary])
        .map(String)
        .sort(),
      name,
    )
  t.match(await to.admin.command({ balancerStatus: 1 }), { mode: 'off' }, 'as it was before')

  const set = await open(t, { topology: 'replica-set', members: 1 })
  await set.cluster.importDump(folder)
  t.same(await contentOf(set.app), await contentOf(from.app), 'a replica set has the same without shards')
  t.match(await set.cluster.exportDump(folder), { collections: 10, documents: 5105 }, 'the folder is replaced')
  t.notOk((await readdir(folder)).includes('config'))
  await t.rejects(set.cluster.importDump(folder), {
    name: 'OptionError',
    message: /^app\.\S+ exists in the cluster already: drop it, or import into another cluster\.$/,
  })
})

t.test('files may be compressed, and without metadata', async (t) => {
  const from = await open(t, { topology: 'standalone' })
  await from.app.collection<Any>('a').insertMany([{ _id: 1 }, { _id: 2 }])
  const folder = await newFolder()
  await from.cluster.exportDump(folder)
  const other = await newFolder()
  await mkdir(join(other, 'app'), { recursive: true })
  await writeFile(join(other, 'app', 'a.bson.gz'), gzipSync(await readFile(join(folder, 'app', 'a.bson'))))
  const to = await open(t, { topology: 'standalone' })
  t.match(await to.cluster.importDump(other), { collections: 1, documents: 2 })
  t.equal(await to.app.collection('a').countDocuments(), 2)
})

t.test('wrong folders and damaged files are refused in one sentence', async (t) => {
  const { cluster, app } = await open(t, { topology: 'standalone' })
  await app.collection<Any>('a').insertMany([{ _id: 1 }, { _id: 2 }])
  const folder = await newFolder()
  await cluster.exportDump(folder)
  const fresh = await ShardedCluster.start({ runtime: 'inline', topology: 'standalone' })
  t.teardown(() => fresh.stop())
  const refused = (path: string, message: RegExp) => t.rejects(fresh.importDump(path), { name: 'OptionError', message })
  await refused('/no/folder', /^\/no\/folder does not exist: name a folder with a dump\.$/)
  await refused(await mkdtemp(join(tmpdir(), 'shardlab-dump-')), /has no dump: name a folder that mongodump/)
  const file = join(folder, 'app', 'a.bson')
  await truncate(file, 20)
  await refused(folder, /a\.bson is damaged at byte 14: its last document is incomplete\. Use another copy/)
  await writeFile(file, Buffer.from([3, 0, 0, 0]))
  await refused(folder, /a\.bson is damaged at byte 0: a document of 3 bytes/)
  await appendFile(join(folder, 'app', 'a.metadata.json'), '}')
  await refused(folder, /a\.metadata\.json is damaged: there is more text at character/)
  t.match(await fresh.exportDump(await newFolder()), { collections: 0 }, 'nothing has changed')
  const others = await mkdtemp(join(tmpdir(), 'shardlab-dump-'))
  await writeFile(join(others, 'precious.txt'), 'mine')
  await t.rejects(cluster.exportDump(others), {
    name: 'OptionError',
    message: `${others} has files that no export has written: name an empty or new folder.`,
  })
  t.same(await readdir(others), ['precious.txt'])
})

t.test('export and import need no login', async (t) => {
  const from = await open(t, { topology: 'replica-set', members: 1 })
  await from.app.collection<Any>('a').insertMany([{ _id: 1 }, { _id: 2 }])
  const folder = await newFolder()
  await from.cluster.exportDump(folder)
  for (const topology of ['standalone', 'sharded'] as const)
    for (const runtime of ['inline', 'threads'] as const) {
      const name = `${topology}, ${runtime}`
      const to = await ShardedCluster.start({ topology, runtime, auth: true })
      t.teardown(() => to.stop())
      const root = await MongoClient.connect(to.uri)
      await root.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
      t.match(await to.importDump(folder), { collections: 1, documents: 2 }, name)
      t.match(await to.exportDump(folder), { collections: 1, documents: 2 }, name)
      await t.rejects(root.db('app').collection('a').findOne(), { code: 13 }, 'clients still need one')
      await root.close()
    }
})

t.test('users and roles are exported and imported', async (t) => {
  const privileges = [{ resource: { db: 'app', collection: 'a' }, actions: ['find'] }]
  for (const [of, to] of [
    ['sharded', 'replica-set'],
    ['replica-set', 'sharded'],
    ['standalone', 'standalone'],
  ] as const) {
    const from = await ShardedCluster.start({ topology: of, runtime: 'inline', auth: true })
    t.teardown(() => from.stop())
    const as = (cluster: ShardedCluster, user: string, password: string) =>
      MongoClient.connect(cluster.uri, { auth: { username: user, password }, authSource: 'admin' })
    const first = await MongoClient.connect(from.uri)
    await first.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
    await first.close()
    const root = await as(from, 'root', 'secret')
    await root.db('app').collection<Any>('a').insertOne({ _id: 1 })
    await root.db('admin').command({ createRole: 'reader', privileges, roles: [] })
    await root.db('admin').command({ createUser: 'ann', pwd: 'ann', roles: ['reader'] })
    await root.close()
    const folder = await newFolder()
    t.match(await from.exportDump(folder), { collections: 1, documents: 1 }, `${of}: users are not counted`)

    // As after all roles were dropped, and after an import that was ended.
    if (of === 'standalone') await writeFile(join(folder, 'admin/system.roles.bson'), '')
    const emulate = of === 'standalone' ? '4.0' : '8.0'
    const again = await ShardedCluster.start({ topology: to, runtime: 'inline', auth: true, emulate })
    t.teardown(() => again.stop())
    const before = await MongoClient.connect(again.uri)
    await before.db('admin').command({ createUser: 'old', pwd: 'old', roles: ['root'] })
    await before.close()
    const old = await as(again, 'old', 'old')
    await old.db('admin').collection<Any>('tempusers').insertOne({ _id: 'left' })
    await old.close()
    await again.importDump(folder)
    if (of === 'standalone') continue
    const ann = await as(again, 'ann', 'ann')
    t.same(await ann.db('app').collection('a').find().toArray(), [{ _id: 1 }], `${of} to ${to}`)
    await t.rejects(ann.db('app').collection<Any>('a').insertOne({ _id: 2 }), { code: 13 })
    await ann.close()
    const administrator = await as(again, 'root', 'secret')
    const left = await administrator.db('admin').listCollections({ name: /^temp/ }).toArray()
    t.same(left, [], 'nothing else is left')
    await administrator.db('admin').command({ dropUser: 'ann' })
    await administrator.close()
  }
})

t.test('up imports at its start, and exports when a signal ends it', async (t) => {
  const folder = await newFolder()
  const flags = ['--port', '0', '--shards', '1', '--runtime', 'inline', '--quiet', '--export-on-exit', folder]
  const first = await up(...flags)
  const client = await MongoClient.connect(first.ready.uri)
  await client.db('app').collection<Any>('a').insertOne({ _id: 1 })
  await client.close()
  t.equal(await first.stop(), 0)
  const second = await up(...flags, '--import', folder)
  const again = await MongoClient.connect(second.ready.uri)
  t.same(await again.db('app').collection('a').find().toArray(), [{ _id: 1 }])
  await again.close()
  await rm(folder, { recursive: true })
  // As by Ctrl-C and npm, which passes it on.
  second.process.kill('SIGINT')
  t.equal(await second.stop(), 0)
  t.ok((await readdir(folder)).includes('app'), 'it exports also when the signal comes twice')
  t.match(await shardlab('up', '--port', '0', '--import', '/no/folder'), {
    code: 2,
    stderr: 'shardlab: /no/folder does not exist: name a folder with a dump.\n',
  })
})
