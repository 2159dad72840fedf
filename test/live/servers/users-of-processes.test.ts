/** Processes of `shardlab-mongod` and `shardlab-mongos` with `--auth` and `--keyFile`. */
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient, type MongoClientOptions } from 'mongodb'
import t, { type Test } from 'tap'
import { StartedServer } from './server-process.js'

function started(t: Test, ...args: string[]): StartedServer {
  const server = new StartedServer(args[0] as 'mongod' | 'mongos', [...args.slice(1), '--port', '0'])
  t.teardown(() => server.kill())
  return server
}

async function connect(t: Test, port: number, options: MongoClientOptions = {}): Promise<MongoClient> {
  const client = await MongoClient.connect(`mongodb://127.0.0.1:${port}/`, { directConnection: true, ...options })
  t.teardown(() => client.close())
  return client
}

const asRoot = { auth: { username: 'root', password: 'secret' } }
const createRoot = { createUser: 'root', pwd: 'secret', roles: ['root'] }

function keyFile(mode: number, key = 'c2VjcmV0a2V5'): string {
  const path = join(mkdtempSync(join(tmpdir(), 'shardlab-key-')), 'key')
  writeFileSync(path, `${key}\n`)
  chmodSync(path, mode)
  return path
}

t.test('a standalone mongod with --auth', async (t) => {
  const port = await started(t, 'mongod', '--auth', '--setParameter', 'notablescan=true').port()
  const withoutUser = await connect(t, port)
  await withoutUser.db('admin').command(createRoot)
  await t.rejects(withoutUser.db('shop').collection('a').insertOne({}), { code: 13 })
  await t.rejects(connect(t, port, { auth: { username: 'root', password: 'wrong' } }), { code: 18 })
  const root = await connect(t, port, asRoot)
  await root.db('shop').collection('a').insertOne({})
  t.match(
    await root.db('admin').command({ getParameter: 1, notablescan: 1 }),
    { notablescan: true },
    'parameters of the command line need no login',
  )
})

t.test('a mongod without enableLocalhostAuthBypass has no localhost exception', async (t) => {
  const port = await started(t, 'mongod', '--auth', '--setParameter', 'enableLocalhostAuthBypass=0').port()
  const admin = (await connect(t, port)).db('admin')
  await t.rejects(admin.command(createRoot), { code: 13, message: 'Command createUser requires authentication' })
  const parameter = 'enableLocalhostAuthBypass=perhaps'
  const wrong = started(t, 'mongod', '--auth', '--setParameter', parameter)
  t.match(await wrong.ended(), { code: 2 })
  t.match(wrong.stderr, "BadValue: Failed to parse value 'perhaps' for setParameter enableLocalhostAuthBypass")
})

t.test('a cluster with a key file', { timeout: 60_000 }, async (t) => {
  const key = ['--keyFile', keyFile(0o600)]
  const [config, shard] = await Promise.all(
    [
      ['csrs', '--configsvr'],
      ['rs1', '--shardsvr'],
    ].map(async ([name, role]) => {
      const server = started(t, 'mongod', '--replSet', name!, role!, ...key)
      const port = await server.port()
      const db = (await connect(t, port)).db('admin')
      const members = [{ _id: 0, host: `127.0.0.1:${port}` }]
      await db.command({
        replSetInitiate: { _id: name, ...(role === '--configsvr' ? { configsvr: true } : {}), members },
      })
      await server.line(21331)
      return `${name}/127.0.0.1:${port}`
    }),
  )
  const port = await started(t, 'mongos', '--configdb', config!, ...key).port()
  const withoutUser = await connect(t, port)
  await withoutUser.db('admin').command(createRoot)
  await t.rejects(withoutUser.db('admin').command({ addShard: shard! }), { code: 13 })
  const root = await connect(t, port, asRoot)
  await root.db('admin').command({ addShard: shard! })
  await root.db('shop').collection('a').insertOne({})
  await root.db('shop').command({ createUser: 'ann', pwd: 'pass', roles: ['read'] })
  const ann = await connect(t, port, { auth: { username: 'ann', password: 'pass' }, authSource: 'shop' })
  t.equal(await ann.db('shop').collection('a').countDocuments(), 1)
  await t.rejects(ann.db('shop').collection('a').insertOne({}), { code: 13 })
  const direct = await connect(t, Number(config!.split(':')[1]), asRoot)
  t.match(await direct.db('admin').command({ usersInfo: 'root' }), { users: [{ _id: 'admin.root' }] })
  await direct.db('local').collection('own').insertOne({})
  const other = await connect(t, Number(config!.split(':')[1]))
  await t.rejects(other.db('local').collection('own').findOne(), { code: 13 })
})

t.test('a server does not start with a wrong key file', async (t) => {
  const unreadable = { id: 20254, msg: 'Read security file failed' }
  for (const [path, line] of [
    [keyFile(0o644), { ...unreadable, attr: { error: { code: 30, errmsg: /permissions on .* are too open/ } } }],
    ['/no/file', { ...unreadable, attr: { error: { codeName: 'InvalidPath', errmsg: /file: No such file/ } } }],
    [keyFile(0o600, 'abc!defg'), { ...unreadable, attr: { error: { errmsg: /invalid char in key file .*: !/ } } }],
    [keyFile(0o600, 'abc'), { id: 20255, s: 'E', attr: { size: 3, minimumLength: 6, maximumLength: 1024 } }],
    [keyFile(0o600, '- abcdef\n- ghijkl\n- mnopqr'), { id: 20258, attr: { numKeys: 3 } }],
  ] as const) {
    const server = started(t, 'mongod', '--keyFile', path)
    t.match(await server.ended(), { code: 1 })
    t.match(server.lines, [line, { id: 20575, s: 'F', msg: 'Error creating service context' }])
  }
  t.ok(await started(t, 'mongod', '--keyFile', keyFile(0o600, '- c2VjcmV0a2V5\n- YW5vdGhlcmtleQ==')).port())
})
