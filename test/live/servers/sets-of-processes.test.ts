/** Several processes of `shardlab-mongod` and `shardlab-mongos` run as one cluster. */
import t, { type Test } from 'tap'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { shardlab } from '../../support/up.js'
import { StartedServer } from './server-process.js'
import { admin, majority, settings, started } from './set-processes.js'

/** Starts the processes of a set and initiates it. @returns their ports */
async function startSet(t: Test, name: string, count: number, ...role: string[]): Promise<[StartedServer, number][]> {
  const servers = Array.from({ length: count }, () => started(t, 'mongod', '--port', '0', '--replSet', name, ...role))
  const ports = await Promise.all(servers.map((server) => server.port()))
  const members = ports.map((port, _id) => ({ _id, host: `127.0.0.1:${port}` }))
  const first = await admin(t, ports[0]!)
  const configsvr = role.includes('--configsvr') ? { configsvr: true } : {}
  await first.command({ replSetInitiate: { _id: name, ...configsvr, members, settings } })
  await Promise.race(servers.map((server) => server.line(21331)))
  return servers.map((server, i) => [server, ports[i]!])
}

const uriOf = (name: string, servers: readonly [StartedServer, number][]): string =>
  `mongodb://${servers.map(([, port]) => `127.0.0.1:${port}`).join(',')}/?replicaSet=${name}`

t.test('three processes are one set, which outlives a killed primary', { timeout: 60_000 }, async (t) => {
  const servers = await startSet(t, 'rs0', 3)
  const client = await MongoClient.connect(uriOf('rs0', servers))
  t.teardown(() => client.close())
  const orders = client.db('shop').collection<{ _id: number }>('orders')
  await orders.insertOne({ _id: 1 }, majority)
  const { me } = await client.db('admin').command({ hello: 1 })
  const [primary, port] = servers.find(([, each]) => me === `127.0.0.1:${each}`)!
  const others = servers.filter(([server]) => server !== primary)
  await primary.kill('SIGKILL')
  await Promise.race(others.map(([server]) => server.line(21331)))
  await orders.insertOne({ _id: 2 }, majority)
  t.same(await orders.find().sort({ _id: 1 }).toArray(), [{ _id: 1 }, { _id: 2 }])

  const again = started(t, 'mongod', '--port', String(port), '--replSet', 'rs0')
  await again.port()
  await again.line(21358)
  const db = await admin(t, others[0]![1])
  const status = async (): Promise<string> =>
    ((await db.command({ replSetGetStatus: 1 }))['members'] as { name: string; stateStr: string }[]).find(
      ({ name }) => name === me,
    )!.stateStr
  while ((await status()) !== 'SECONDARY') await client.db('admin').command({ ping: 1 })
  const copy = await MongoClient.connect(`mongodb://127.0.0.1:${port}/?directConnection=true`)
  t.teardown(() => copy.close())
  const found = copy.db('shop').collection('orders').find({}, { readPreference: 'secondary' }).sort({ _id: 1 })
  t.same(await found.toArray(), [{ _id: 1 }, { _id: 2 }], 'a process that starts again copies the data')
})

t.test(
  'collections in local are not replicated, and every member writes to its own',
  { timeout: 60_000 },
  async (t) => {
    const lone = started(t, 'mongod', '--port', '0', '--replSet', 'rs0')
    const marks = (await admin(t, await lone.port())).client.db('local').collection('marks')
    await marks.insertOne({ of: 'a member that is not initiated' })
    t.equal(await marks.countDocuments(), 1)

    const servers = await startSet(t, 'rs0', 2)
    for (const [, port] of servers) {
      const client = (await admin(t, port)).client
      const own = client.db('local').collection('marks')
      t.equal(await own.countDocuments(), 0, 'nothing of another member')
      await own.insertMany(Array.from({ length: 200 }, (_, _id) => ({ _id: _id as never, port })))
      t.equal((await own.find({}, { batchSize: 10 }).toArray()).length, 200, 'by several batches')
      t.ok((await client.db('local').collection('oplog.rs').countDocuments()) > 0, 'the oplog is that of the member')
    }
  },
)

t.test('an orderly end of the primary hands over', { timeout: 60_000 }, async (t) => {
  const servers = await startSet(t, 'rs0', 3)
  const client = await MongoClient.connect(uriOf('rs0', servers))
  t.teardown(() => client.close())
  await client.db('shop').collection('orders').insertOne({}, majority)
  const { me } = await client.db('admin').command({ hello: 1 })
  const [primary] = servers.find(([, each]) => me === `127.0.0.1:${each}`)!
  await client
    .db('admin')
    .command({ shutdown: 1 })
    .catch(() => {})
  t.same(await primary.ended(), { code: 0, signal: null })
  t.equal(await client.db('shop').collection('orders').countDocuments(), 1)
})

t.test('config server, shards and routers of different processes are one cluster', { timeout: 60_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-server-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [config, first, second] = await Promise.all([
    startSet(t, 'csrs', 1, '--configsvr', '--dbpath', folder),
    startSet(t, 's1', 1, '--shardsvr'),
    startSet(t, 's2', 2, '--shardsvr'),
  ])
  const configDb = `csrs/127.0.0.1:${config[0]![1]}`
  const routers = [1, 2].map(() => started(t, 'mongos', '--port', '0', '--configdb', configDb))
  const [one, two] = await Promise.all(routers.map(async (router) => admin(t, await router.port())))
  const hosts = (servers: readonly [StartedServer, number][]) => servers.map(([, port]) => `127.0.0.1:${port}`).join()
  t.match(await one!.command({ addShard: `s1/${hosts(first)}` }), { shardAdded: 's1' })
  t.match(await one!.command({ addShard: `s2/${hosts(second)}`, name: 'another' }), { shardAdded: 'another' })
  await one!.command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
  const documents = Array.from({ length: 50 }, (_, customer) => ({ customer }))
  await two!.client.db('shop').collection('orders').insertMany(documents, majority)
  t.equal(await one!.client.db('shop').collection('orders').countDocuments(), 50)
  const direct = await admin(t, first[0]![1])
  const onFirst = await direct.client.db('shop').collection('orders').countDocuments()
  t.ok(onFirst > 0 && onFirst < 50, `${onFirst} documents on s1`)
  const chunk = await one!.client.db('config').collection('chunks').findOne({ shard: 's1' })
  t.match(await one!.command({ moveChunk: 'shop.orders', bounds: [chunk!['min'], chunk!['max']], to: 'another' }), {
    ok: 1,
  })
  t.match(await one!.command({ balancerStatus: 1 }), { ok: 1, mode: 'full' })
  t.equal(await two!.client.db('shop').collection('orders').countDocuments(), 50, 'after a chunk has moved')
  const { client } = two!
  const changes = client.db('shop').collection('orders').watch()
  const opened = changes.tryNext()
  t.equal(await opened, null)
  await client.withSession((session) =>
    session.withTransaction(() =>
      client
        .db('shop')
        .collection('orders')
        .insertMany(
          Array.from({ length: 20 }, (_, i) => ({ customer: 100 + i })),
          { session },
        ),
    ),
  )
  for (let i = 0; i < 20; i++) t.match(await changes.next(), { operationType: 'insert' })
  await changes.close()
  t.equal(await one!.client.db('shop').collection('orders').countDocuments(), 70, 'after a transaction on both shards')
})

t.test(
  'processes refuse to add and remove members, which are processes of their own',
  { timeout: 60_000 },
  async (t) => {
    const [[, port]] = (await startSet(t, 'rs0', 1)) as [[StartedServer, number]]
    const db = await admin(t, port)
    const message = 'each member is a process of its own here: start or end one.'
    await t.rejects(db.command({ shardlab: 'addMember', set: 'rs0' }), { code: 2, message })
    await t.rejects(db.command({ shardlab: 'removeMember', member: 'rs0' }), { code: 2, message })
    const uri = `mongodb://127.0.0.1:${port}/`
    for (const args of [
      ['add', 'rs0'],
      ['remove', 'rs0'],
    ])
      t.match(await shardlab('member', ...args, '--uri', uri), {
        code: 2,
        stdout: '',
        stderr: `shardlab: ${message}\n`,
      })
    const { members } = await db.command({ replSetGetStatus: 1 })
    t.match(members, [{ name: `127.0.0.1:${port}`, stateStr: 'PRIMARY' }])
  },
)
