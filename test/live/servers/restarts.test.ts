/** Servers that start again with the directory of an earlier process. */
import t, { type Test } from 'tap'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient, type MongoClientOptions } from 'mongodb'
import { shardlab, up } from '../../support/up.js'
import { StartedServer } from './server-process.js'

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'shardlab-server-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

function started(t: Test, args: readonly string[], env?: NodeJS.ProcessEnv): StartedServer {
  const server = new StartedServer('mongod', ['--port', '0', ...args], env)
  t.teardown(() => server.kill())
  return server
}

async function connected(t: Test, server: StartedServer, options: MongoClientOptions = {}): Promise<MongoClient> {
  const uri = `mongodb://127.0.0.1:${await server.port()}/`
  const client = await MongoClient.connect(uri, { directConnection: true, ...options })
  t.teardown(() => client.close())
  return client
}

const asRoot = { auth: { username: 'root', password: 'secret' } }

/** How a server ends, and its exit code. */
const ends: [
  name: string,
  code: number | null,
  end: (server: StartedServer, client: MongoClient) => Promise<unknown>,
][] = [
  ['kill -9', null, (server, client) => closedBefore(client, () => server.kill('SIGKILL'))],
  ['SIGTERM', 0, (server, client) => closedBefore(client, () => server.kill('SIGTERM'))],
  // It has no reply.
  [
    'shutdown',
    0,
    (_server, client) =>
      client
        .db('admin')
        .command({ shutdown: 1 })
        .catch(() => {}),
  ],
]

/** Closing it later would wait 30 s for a server to send `endSessions` to. */
async function closedBefore(client: MongoClient, end: () => Promise<void>): Promise<void> {
  await client.close()
  await end()
}

for (const [name, code, end] of ends)
  t.test(`after ${name}, a server has its data, indexes and users on another port`, async (t) => {
    const path = folder(t)
    const first = started(t, ['--dbpath', path, '--auth'])
    const withoutUser = await connected(t, first)
    await withoutUser.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
    await withoutUser.close()
    const root = await connected(t, first, asRoot)
    await root
      .db('shop')
      .collection<{ _id: number; total?: number }>('orders')
      .insertMany([{ _id: 1 }, { _id: 2 }])
    await root.db('shop').collection('orders').createIndex({ total: 1 }, { unique: true, sparse: true })
    await root
      .db('shop')
      .collection<{ _id: number }>('orders')
      .updateOne({ _id: 2 }, { $set: { total: 5 } })
    await end(first, root)
    t.match(await first.ended(), { code })

    const again = started(t, ['--dbpath', path, '--auth'])
    await t.rejects((await connected(t, again)).db('shop').collection('orders').findOne(), { code: 13 })
    const orders = (await connected(t, again, asRoot)).db('shop').collection('orders')
    t.strictSame(await orders.find().sort({ _id: 1 }).toArray(), [{ _id: 1 }, { _id: 2, total: 5 }])
    t.match(await orders.indexes(), [{ name: '_id_' }, { name: 'total_1', unique: true, sparse: true }])
    await t.rejects(orders.insertOne({ total: 5 }), { code: 11_000 })
  })

t.test('the directory of a configuration file keeps the data, too', async (t) => {
  const path = folder(t)
  const file = join(path, 'mongod.conf')
  writeFileSync(file, `storage:\n  dbPath: ${path}\n`)
  for (const expected of [0, 1]) {
    const server = started(t, ['--config', file])
    const client = await connected(t, server)
    const orders = client.db('shop').collection('orders')
    t.equal(await orders.countDocuments(), expected)
    await orders.insertOne({})
    await closedBefore(client, () => server.kill('SIGKILL'))
  }
})

t.test('an engine in memory, and a server without --dbpath, begin without data', async (t) => {
  const path = folder(t)
  const inMemory = ['--dbpath', path, '--storageEngine', 'ephemeralForTest']
  for (const args of [inMemory, inMemory, []]) {
    const server = started(t, args)
    const client = await connected(t, server)
    const orders = client.db('shop').collection('orders')
    t.equal(await orders.countDocuments(), 0, args.join(' '))
    await orders.insertOne({})
    await closedBefore(client, () => server.kill('SIGTERM'))
  }
  t.same(readdirSync(path), ['mongod.lock'])
  t.equal(readFileSync(join(path, 'mongod.lock'), 'utf8'), '')
})

/** Ends a server that has written to the directory. */
async function filled(t: Test, path: string, ...args: string[]): Promise<void> {
  const server = started(t, ['--dbpath', path, ...args])
  const client = await connected(t, server)
  if (!args.includes('--replSet')) await client.db('shop').collection('orders').insertMany([{}, {}, {}])
  await client.close()
  await server.kill('SIGTERM')
}

interface Refusal {
  readonly code: number
  readonly id: number
  /** Of the line of the log. */
  readonly text: string | RegExp
}

async function refused(
  t: Test,
  name: string,
  { code, id, text }: Refusal,
  args: string[],
  env?: NodeJS.ProcessEnv,
): Promise<void> {
  const server = started(t, args, env)
  t.same(await server.ended(), { code, signal: null }, name)
  const { error, reason } = (await server.line(id)).attr!
  t.match(error ?? reason, text, name)
}

t.test('data of another version, set, role or engine is refused, and stays as it is', async (t) => {
  const [standalone, ofSet, ofConfig] = [folder(t), folder(t), folder(t)]
  await filled(t, standalone)
  await filled(t, ofSet, '--replSet', 'rs0')
  await filled(t, ofConfig, '--replSet', 'csrs', '--configsvr')
  const as = 'start it with the former options, or choose another directory.'
  const exception = (path: string, whose: string, own: string): Refusal => ({
    ...{ code: 100, id: 20557 },
    text: `IllegalOperation: ${path} holds data of ${whose}, and this is ${own}: ${as}`,
  })
  const wrongVersion: Refusal = {
    ...{ code: 62, id: 20573 },
    text: `${standalone} holds data of MongoDB 7.0, and this server emulates 6.0: start it with SHARDLAB_EMULATE=7.0, or choose another directory.`,
  }
  await refused(t, 'a version', wrongVersion, ['--dbpath', standalone], { SHARDLAB_EMULATE: '6.0' })
  const cases: [path: string, whose: string, own: string, args: string[]][] = [
    [ofSet, 'a member of the replica set rs0', 'a member of the replica set rs1', ['--replSet', 'rs1']],
    [ofSet, 'a member of the replica set rs0', 'a standalone server', []],
    [
      ofConfig,
      'a config server of the replica set csrs',
      'a shard of the replica set csrs',
      ['--replSet', 'csrs', '--shardsvr'],
    ],
    [
      standalone,
      'a standalone server',
      'a config server of the replica set csrs',
      ['--replSet', 'csrs', '--configsvr'],
    ],
  ]
  for (const [path, whose, own, args] of cases)
    await refused(t, `${own} instead of ${whose}`, exception(path, whose, own), ['--dbpath', path, ...args])
  const otherEngine = {
    ...{ code: 100, id: 20557 },
    text: `Location28662: Cannot start server. Detected data files in ${standalone} created by the 'wiredTiger' storage engine, but the specified storage engine was 'ephemeralForTest'.`,
  }
  await refused(t, 'an engine', otherEngine, ['--dbpath', standalone, '--storageEngine', 'ephemeralForTest'])
  const client = await connected(t, started(t, ['--dbpath', standalone]))
  t.equal(await client.db('shop').collection('orders').countDocuments(), 3)
})

t.test('damaged and incomplete data ends the start with the exit code of the server', async (t) => {
  const damages: [name: string, text: RegExp, damage: (path: string) => void][] = [
    ['a byte', /\/members\/data\/log-00000001 is damaged at byte \d+/, flipByte],
    [
      'a log',
      /log-00000001 is damaged: the file is missing/,
      (path) => rmSync(join(path, 'members/data/log-00000001')),
    ],
    ['all logs', /\/members\/data is damaged/, (path) => rmSync(join(path, 'members/data'), { recursive: true })],
    ['whose', /server\.json is damaged: the file is missing/, (path) => rmSync(join(path, 'server.json'))],
    ['a checksum', /server\.json is damaged/, (path) => writeFileSync(join(path, 'server.json'), '{}\n0\n')],
  ]
  const original = folder(t)
  await filled(t, original)
  for (const [name, text, damage] of damages) {
    const path = folder(t)
    cpSync(original, path, { recursive: true })
    damage(path)
    await refused(t, name, { code: 14, id: 28595, text }, ['--dbpath', path])
    t.notOk(existsSync(join(path, 'lock')), `${name}: the directory is unlocked`)
  }
})

function flipByte(path: string): void {
  const log = join(path, 'members/data/log-00000001')
  const bytes = readFileSync(log)
  bytes[200]! ^= 1
  writeFileSync(log, bytes)
}

t.test('a server and a cluster refuse the directory of each other', async (t) => {
  const [ofServer, ofCluster] = [folder(t), folder(t)]
  const cluster = await up('--shards', '1', '--dbpath', ofCluster)
  t.teardown(() => cluster.stop())
  const server = started(t, ['--dbpath', ofServer])
  await server.port()
  const holdsData = {
    code: 2,
    stderr: `shardlab: ${ofServer} holds the data of a shardlab-mongod: start that with it, or choose another directory.\n`,
  }
  const inUse: Refusal = {
    ...{ code: 100, id: 20557 },
    text: `DBPathInUse: Unable to lock the lock file: ${ofCluster}/mongod.lock (Resource temporarily unavailable). ${ofCluster} is in use by process ${cluster.process.pid}: stop it first, or choose another directory.`,
  }
  await refused(t, 'of a running cluster', inUse, ['--dbpath', ofCluster])
  t.match(await shardlab('up', '--dbpath', ofServer), holdsData)
  await Promise.all([cluster.stop(), server.kill()])
  const holds: Refusal = {
    ...{ code: 100, id: 20557 },
    text: `IllegalOperation: ${ofCluster} holds a cluster of \`shardlab up\`: choose another directory.`,
  }
  await refused(t, 'of a cluster', holds, ['--dbpath', ofCluster])
  t.match(await shardlab('up', '--dbpath', ofServer), holdsData)
})

t.test('data of MongoDB itself is refused', async (t) => {
  const path = folder(t)
  writeFileSync(join(path, 'WiredTiger.wt'), '')
  const text = `IllegalOperation: ${path} holds data of MongoDB itself: choose another directory.`
  await refused(t, 'WiredTiger', { code: 100, id: 20557, text }, ['--dbpath', path])
})
