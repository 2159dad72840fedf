/** `fsync` with a lock, and copies of the directory of a running cluster. */
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClusterOptions } from '@shardlab/cluster'
import { MongoClient, type Document } from 'mongodb'
import t, { type Test } from 'tap'
import { connected } from '../../support/connected.js'

async function newFolder(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shardlab-backup-'))
  test.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** All bytes of a directory, by path. */
async function bytesOf(directory: string): Promise<Map<string, string>> {
  const paths = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'latin1')] as const)))
}

const topologies: readonly ClusterOptions[] = [
  { shards: 2, members: 1 },
  { shards: 1, members: 3, runtime: 'threads' },
  { topology: 'standalone' },
]

for (const options of topologies)
  t.test(`${JSON.stringify(options)}: a copy made while fsync locks starts beside the original`, async (test) => {
    const folder = await newFolder(test)
    const [dbPath, copy] = [join(folder, 'data'), join(folder, 'copy')]
    await using original = await connected({ ...options, dbPath })
    const { client, admin, cluster } = original
    if (cluster.config !== null) await admin.command({ shardCollection: 'app.a', key: { _id: 'hashed' } })
    const a = client.db('app').collection<{ _id: number }>('a')
    await a.insertMany(Array.from({ length: 100 }, (_, _id) => ({ _id })))
    await admin.command({ fsync: 1, lock: true })
    const before = await bytesOf(dbPath)
    let isWritten = false
    const write = a.insertOne({ _id: 1000 }).then(() => (isWritten = true))
    await cp(dbPath, copy, { recursive: true })
    test.equal(await a.countDocuments(), 100, 'reads are served')
    test.same(await bytesOf(dbPath), before, 'nothing is written')
    test.notOk(isWritten)
    await using copied = await connected({ dbPath: copy })
    test.equal(await copied.client.db('app').collection('a').countDocuments(), 100)
    await copied.client.db('app').collection<{ _id: number }>('a').insertOne({ _id: 2000 })
    await admin.command({ fsyncUnlock: 1 })
    await write
    test.equal(await a.countDocuments(), 101)
    test.same(
      copied.cluster.members().map(({ address }) => address),
      cluster.members().map(({ address }) => address),
    )
  })

t.test('D722: fsync of a mongod counts its locks, and the last one blocks writes', async (test) => {
  await using made = await connected({ topology: 'standalone' })
  const { client, admin } = made
  const a = client.db('app').collection<{ _id: number }>('a')
  await test.rejects(admin.command({ fsyncUnlock: 1 }), { code: 20, message: 'fsyncUnlock called when not locked' })
  test.match(await admin.command({ fsync: 1, lock: true }), {
    info: 'now locked against writes, use db.fsyncUnlock() to unlock',
    lockCount: 1,
    seeAlso: 'http://dochub.mongodb.org/core/fsynccommand',
  })
  test.match(await admin.command({ fsync: 1, lock: true }), { lockCount: 2 })
  test.match(await admin.command({ currentOp: 1 }), { fsyncLock: true })
  await test.rejects(client.db('app').command({ insert: 'a', documents: [{ _id: 1 }], maxTimeMS: 20 }), { code: 50 })
  const write = a.insertOne({ _id: 2 })
  test.match(await admin.command({ fsyncUnlock: 1 }), { info: 'fsyncUnlock completed', lockCount: 1 })
  test.equal(await a.countDocuments(), 0)
  test.match(await admin.command({ fsyncUnlock: 1 }), { info: 'fsyncUnlock completed', lockCount: 0 })
  await write
  test.same(await a.find().toArray(), [{ _id: 2 }])
  test.equal('fsyncLock' in (await admin.command({ currentOp: 1 })), false)
  // A cluster that stops while it is locked completes what waits.
  await admin.command({ fsync: 1, lock: true })
})

t.test('routers lock all shards and the config server as their version does', async (test) => {
  const locks = async (emulate: ClusterOptions['emulate']): Promise<Document> => {
    await using made = await connected({ shards: 2, members: 1, emulate: emulate! })
    const { admin } = made
    const locked = await admin.command({ fsync: 1, lock: true }).catch((error: unknown) => error as Document)
    const unlocked = await admin.command({ fsyncUnlock: 1 }).catch((error: unknown) => error as Document)
    return { locked, unlocked, shards: made.cluster.shards }
  }
  const { locked, unlocked } = await locks('7.0')
  test.equal(locked['numFiles'], 1)
  test.equal(Object.keys(locked['all'].raw).length, 3)
  for (const reply of Object.values(locked['all'].raw)) test.match(reply, { lockCount: 1, ok: 1 })
  for (const reply of Object.values(unlocked['raw'])) test.match(reply, { lockCount: 0, ok: 1 })
  const old = await locks('6.0.2')
  test.match(old['locked'], { message: "can't do lock through mongos" })
  test.match(old['unlocked'], { code: 59 })
})

t.test('a router that cannot lock one shard locks none', async (test) => {
  await using made = await connected({ shards: 2, members: 1, findReplicaSetHostTimeoutMs: 50 })
  const { admin, cluster } = made
  const direct = await MongoClient.connect(cluster.shards[0]!.uri)
  await cluster.crash('shard02')
  await test.rejects(admin.command({ fsync: 1, lock: true }))
  await test.rejects(direct.db('admin').command({ fsyncUnlock: 1 }), /not locked/)
  await direct.close()
})
