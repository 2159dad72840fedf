import t, { type Test } from 'tap'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient, MongoNetworkError } from 'mongodb'
import { run } from '../../support/up.js'
import { serversFolder, StartedServer } from './server-process.js'

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'shardlab-server-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

function started(t: Test, args: readonly string[], env?: NodeJS.ProcessEnv): StartedServer {
  const server = new StartedServer('mongod', args, env)
  t.teardown(() => server.kill())
  return server
}

const connected = (port: number): Promise<MongoClient> =>
  MongoClient.connect(`mongodb://127.0.0.1:${port}/?directConnection=true`)

t.test('a standalone serves a driver and ends with 0 at a signal', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const server = started(t, ['--port', '0', '--dbpath', folder(t), '--storageEngine', 'wiredTiger', '--noauth'])
    const client = await connected(await server.port())
    await client.db('shop').collection('orders').insertOne({ total: 5 })
    t.match(await client.db('admin').command({ hello: 1 }), { isWritablePrimary: true, setName: undefined })
    await client.close()
    await server.kill(signal)
    t.same(await server.ended(), { code: 0, signal: null }, signal)
    t.match(server.lines.at(-1), { id: 23138, attr: { exitCode: 0 } })
  }
})

t.test('shutdown closes the connection without a reply, and the process ends with 0', async (t) => {
  const server = started(t, ['--port', '0', '--dbpath', folder(t)])
  const client = await connected(await server.port())
  await t.rejects(client.db('admin').command({ shutdown: 1 }), MongoNetworkError)
  t.same(await server.ended(), { code: 0, signal: null })
  await client.close()
})

t.test('a set of one, initiated by a client, logs its transition to primary', async (t) => {
  const server = started(t, ['--port', '0', '--replSet', 'testset', '--dbpath', folder(t)])
  const port = await server.port()
  const client = await connected(port)
  const host = `127.0.0.1:${port}`
  await client.db('admin').command({ replSetInitiate: { _id: 'testset', members: [{ _id: 0, host }] } })
  t.match(await server.line(21331), { msg: 'Transition to primary complete; database writes are now permitted' })
  await client
    .db('shop')
    .collection('orders')
    .insertOne({ total: 5 }, { writeConcern: { w: 'majority' } })
  t.match(
    server.lines.filter(({ id }) => id === 21358).map(({ attr }) => attr!['newState']),
    ['STARTUP2', 'SECONDARY', 'PRIMARY'],
  )
  await client.close()
})

t.test('a start that fails has the line and the exit code of the server', async (t) => {
  const path = folder(t)
  const first = started(t, ['--port', '0', '--dbpath', path])
  const port = await first.port()
  const cases: [name: string, args: string[], code: number, id: number, text: RegExp][] = [
    ['a port in use', ['--port', String(port), '--dbpath', folder(t)], 48, 20568, /Address already in use/],
    ['no folder', ['--port', '0', '--dbpath', join(path, 'none')], 100, 20557, /^NonExistentPath: Data directory/],
    ['a folder in use', ['--port', '0', '--dbpath', path], 100, 20557, /^DBPathInUse: Unable to lock the lock file/],
  ]
  for (const [name, args, code, id, text] of cases) {
    const server = started(t, args)
    t.same(await server.ended(), { code, signal: null }, name)
    const error = (await server.line(id).catch(() => null))?.attr?.['error']
    t.match(typeof error === 'string' ? error : JSON.stringify(error), text, name)
  }
  await first.kill()
  const next = started(t, ['--port', String(port), '--dbpath', path])
  t.equal(await next.port(), port, 'a lock file of a server that is gone does not count')
})

t.test('wrong options and damaged files end with 2 and a hint', async (t) => {
  const file = join(folder(t), 'mongod.conf')
  writeFileSync(file, 'net:\n  port: [1\n')
  const cases: [string[], RegExp][] = [
    [['--nothing'], /^Error parsing command line: unrecognised option '--nothing'\n/],
    [['--config', file], /^Error parsing YAML config file: yaml-cpp: error at line \d+, column \d+: /],
    [['--config', `${file}.none`], /^Error opening config file: No such file or directory\n/],
  ]
  for (const [args, text] of cases) {
    const { code, stderr, stdout } = await run(join(serversFolder, 'mongod'), args)
    t.match({ code, stderr, stdout }, { code: 2, stderr: text, stdout: '' }, args.join(' '))
    t.match(stderr, /\ntry 'mongod --help' for more information\n$/)
  }
})

t.test('a configuration file is read, and the command line wins', async (t) => {
  const path = folder(t)
  const file = join(path, 'mongod.conf')
  writeFileSync(file, `net:\n  port: 1\nreplication:\n  replSetName: rs9\nstorage:\n  dbPath: ${path}\n`)
  const server = started(t, ['--config', file, '--port', '0'])
  const client = await connected(await server.port())
  t.match(await client.db('admin').command({ hello: 1 }), { isreplicaset: true })
  t.match(server.lines.find(({ id }) => id === 21951)?.attr, { options: { replication: { replSetName: 'rs9' } } })
  await client.close()
})

t.test('--fork returns when the server is ready, and --logpath has its log', async (t) => {
  const path = folder(t)
  const [log, pidFile] = [join(path, 'mongod.log'), join(path, 'pid')]
  const args = ['--port', '0', '--dbpath', path, '--logpath', log, '--fork', '--pidfilepath', pidFile]
  const { code, stdout } = await run(join(serversFolder, 'mongod'), args)
  t.equal(code, 0)
  t.match(stdout, /^about to fork child process, .*\nforked process: \d+\nchild process started successfully/)
  const pid = Number(readFileSync(pidFile, 'utf8'))
  t.teardown(() => process.kill(pid, 'SIGKILL'))
  t.match(readFileSync(log, 'utf8'), /"id":23016,.*"Waiting for connections"/)
  const failed = await run(join(serversFolder, 'mongod'), [...args.slice(0, 3), join(path, 'none'), ...args.slice(4)])
  t.match(failed, { code: 100, stdout: /ERROR: child process failed, exited with 100/ })
})

t.test('SHARDLAB_EMULATE sets the version that --version, buildInfo and the log show', async (t) => {
  const env = { ...process.env, SHARDLAB_EMULATE: '6.0' }
  const { stdout } = await run(join(serversFolder, 'mongod'), ['--version'], { env })
  const version = /^db version v(6\.0\.\d+)\n/.exec(stdout)?.[1]
  t.ok(version)
  const server = started(t, ['--port', '0'], env)
  const client = await connected(await server.port())
  t.match(await client.db('admin').command({ buildInfo: 1 }), { version })
  t.match(server.lines.find(({ id }) => id === 23403)?.attr, { buildInfo: { version } })
  await client.close()
  t.match(await run(join(serversFolder, 'mongod'), ['--version'], { env: { ...env, SHARDLAB_EMULATE: '1.0' } }), {
    code: 2,
  })
})
