/** Processes of sets and of a sharded cluster that start again with their directories. */
import t, { type Test } from 'tap'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient, type Collection, type Db, type Document } from 'mongodb'
import { StartedServer } from './server-process.js'
import { admin, majority, settings, started } from './set-processes.js'

/** One process of a set, on the same port and in the same directory at each start. */
class Member {
  readonly #t: Test
  readonly #args: readonly string[]
  port = 0
  server: StartedServer

  constructor(t: Test, ...args: string[]) {
    const path = mkdtempSync(join(tmpdir(), 'shardlab-server-'))
    t.teardown(() => rmSync(path, { recursive: true }))
    this.#t = t
    this.#args = ['--dbpath', path, ...args]
    this.server = this.start()
  }

  start(): StartedServer {
    return (this.server = started(this.#t, 'mongod', '--port', String(this.port), ...this.#args))
  }

  async listens(): Promise<void> {
    this.port = await this.server.port()
  }

  get host(): string {
    return `localhost:${this.port}`
  }

  kill(): Promise<void> {
    return this.server.kill('SIGKILL')
  }
}

async function startSet(t: Test, name: string, count: number, ...role: string[]): Promise<Member[]> {
  const set = Array.from({ length: count }, () => new Member(t, '--replSet', name, ...role))
  await Promise.all(set.map((member) => member.listens()))
  const config = {
    _id: name,
    ...(role.includes('--configsvr') ? { configsvr: true } : {}),
    members: set.map(({ host }, _id) => ({ _id, host })),
    settings,
  }
  await (await admin(t, set[0]!.port)).command({ replSetInitiate: config })
  await hasPrimary(set)
  return set
}

const hasPrimary = (set: readonly Member[]): Promise<unknown> =>
  Promise.race(set.map(({ server }) => server.line(21331)))

async function client(t: Test, set: readonly Member[], name: string): Promise<MongoClient> {
  const hosts = set.map(({ host }) => host).join(',')
  const connected = await MongoClient.connect(`mongodb://${hosts}/?replicaSet=${name}`)
  t.teardown(() => connected.close())
  return connected
}

async function oplog(db: Db): Promise<Document[]> {
  const entries = db.client.db('local').collection('oplog.rs')
  return entries.find({}, { readPreference: 'secondary' }).sort({ $natural: 1 }).toArray()
}

const timesOf = (entries: readonly Document[]): string[] => entries.map(({ ts }) => String(ts))

t.test(
  'a set whose processes were all killed has its data, configuration and oplog',
  { timeout: 60_000 },
  async (t) => {
    const set = await startSet(t, 'rs0', 3)
    const before = await client(t, set, 'rs0')
    const orders = before.db('shop').collection<{ _id: number }>('orders')
    await orders.insertMany([{ _id: 1 }, { _id: 2 }], { writeConcern: { w: 3 } })
    const marks = (await admin(t, set[2]!.port)).client.db('local').collection<{ _id: number }>('marks')
    await marks.insertOne({ _id: 5 })
    const { config } = await before.db('admin').command({ replSetGetConfig: 1 })
    // First: it ends its sessions, and would wait half a minute for a server.
    await before.close()
    await Promise.all(set.map((member) => member.kill()))

    const [lone, ...others] = [set[2]!, set[0]!, set[1]!]
    lone.start()
    await lone.listens()
    const alone = await admin(t, lone.port)
    const found = alone.client.db('shop').collection('orders').find({}, { readPreference: 'secondary' })
    t.strictSame(await found.sort({ _id: 1 }).toArray(), [{ _id: 1 }, { _id: 2 }], 'no other member runs')
    t.strictSame(await alone.client.db('local').collection('marks').find().toArray(), [{ _id: 5 }])
    const entries = await oplog(alone)

    for (const member of others) member.start()
    await hasPrimary(set)
    const after = await client(t, set, 'rs0')
    await after.db('shop').collection<{ _id: number }>('orders').insertOne({ _id: 3 }, majority)
    t.match((await after.db('admin').command({ replSetGetConfig: 1 }))['config'], {
      ...{ members: config.members, settings: config.settings, version: config.version },
    })
    const times = timesOf(await oplog(await admin(t, lone.port)))
    t.strictSame(times.slice(0, entries.length), timesOf(entries), 'the oplog continues')
  },
)

/** Resolves when a member has the document. */
async function arrived(copies: Collection<{ _id: number }>, _id: number): Promise<void> {
  while ((await copies.findOne({ _id }, { readPreference: 'secondary' })) === null);
}

t.test('a member that was down catches up by the oplog, without a copy of the data', { timeout: 60_000 }, async (t) => {
  const set = await startSet(t, 'rs0', 3)
  const connected = await client(t, set, 'rs0')
  const orders = connected.db('shop').collection<{ _id: number }>('orders')
  await orders.insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
  const { me } = await connected.db('admin').command({ hello: 1 })
  const secondary = set.find(({ host }) => host !== me)!
  const reader = await admin(t, secondary.port)
  const first = timesOf(await oplog(reader))[0]
  // It ends its sessions, and would wait half a minute for a server.
  await reader.client.close()
  await secondary.kill()
  await orders.insertOne({ _id: 2 }, majority)
  secondary.start()
  await secondary.listens()
  const db = await admin(t, secondary.port)
  await arrived(db.client.db('shop').collection('orders'), 2)
  // An initial sync would copy the newest entries only.
  t.equal(timesOf(await oplog(db))[0], first)
})

t.test('a member on another port is not in its set, as on the server', { timeout: 60_000 }, async (t) => {
  const set = await startSet(t, 'rs0', 1)
  const [member] = set as [Member]
  const { port } = member
  await member.server.kill('SIGTERM')
  member.port = 0
  member.start()
  await member.listens()
  t.not(member.port, port)
  await t.rejects((await admin(t, member.port)).command({ replSetGetStatus: 1 }), { code: 93 })
  await member.kill()
  member.port = port
  member.start()
  await hasPrimary(set)
  t.match(await (await admin(t, port)).command({ hello: 1 }), { hosts: [`localhost:${port}`] })
})

t.test('a standalone server becomes a set, and the set a shard', { timeout: 60_000 }, async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'shardlab-server-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  const standalone = started(t, 'mongod', '--port', '0', '--dbpath', path)
  const port = await standalone.port()
  const { client: before } = await admin(t, port)
  await before.db('shop').collection<{ _id: number }>('orders').insertOne({ _id: 1 })
  await before.close()
  await standalone.kill('SIGTERM')

  const args = ['--port', String(port), '--dbpath', path, '--replSet', 'rs0']
  const member = started(t, 'mongod', ...args)
  await member.port()
  const db = await admin(t, port)
  t.match(await db.command({ hello: 1 }), { isreplicaset: true, isWritablePrimary: false })
  await db.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: `localhost:${port}` }] } })
  await member.line(21331)
  await db.client.db('shop').collection<{ _id: number }>('orders').insertOne({ _id: 2 }, majority)
  await db.client.close()
  await member.kill('SIGTERM')

  const shard = started(t, 'mongod', ...args, '--shardsvr')
  await shard.line(21331)
  const orders = (await admin(t, port)).client.db('shop').collection('orders')
  t.strictSame(await orders.find().sort({ _id: 1 }).toArray(), [{ _id: 1 }, { _id: 2 }])
})

t.test('a sharded cluster whose processes were all killed serves its data again', { timeout: 60_000 }, async (t) => {
  const [config, first, second] = await Promise.all([
    startSet(t, 'csrs', 1, '--configsvr'),
    startSet(t, 'rs1', 1, '--shardsvr'),
    startSet(t, 'rs2', 2, '--shardsvr'),
  ])
  const router = ['--port', '0', '--configdb', `csrs/${config[0]!.host}`]
  const before = started(t, 'mongos', ...router)
  const db = await admin(t, await before.port())
  await db.command({ addShard: `rs1/${first[0]!.host}` })
  await db.command({ addShard: `rs2/${second.map(({ host }) => host).join(',')}`, name: 'east' })
  await db.command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
  const documents = Array.from({ length: 40 }, (_, customer) => ({ customer }))
  await db.client.db('shop').collection('orders').insertMany(documents, majority)
  const cluster = [...config, ...first, ...second]
  await Promise.all([before.kill('SIGKILL'), ...cluster.map((member) => member.kill())])

  // The shards cannot ask the config server, which starts last.
  for (const member of [...first, ...second]) member.start()
  await Promise.all([hasPrimary(first), hasPrimary(second)])
  config[0]!.start()
  const again = await admin(t, await started(t, 'mongos', ...router).port())
  const orders = again.client.db('shop').collection('orders')
  t.equal(await orders.countDocuments(), 40)
  await orders.insertMany(
    Array.from({ length: 10 }, (_, i) => ({ customer: 100 + i })),
    majority,
  )
  const chunk = await again.client.db('config').collection('chunks').findOne({ shard: 'rs1' })
  await again.command({ moveChunk: 'shop.orders', bounds: [chunk!['min'], chunk!['max']], to: 'east' })
  t.equal(await orders.countDocuments(), 50, 'after a chunk has moved')
  t.match(await again.command({ balancerStatus: 1 }), { ok: 1, mode: 'full' })
  t.match((await again.command({ listShards: 1 }))['shards'], [{ _id: 'east' }, { _id: 'rs1' }])
})
