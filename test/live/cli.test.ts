/** The command line: readiness, signals, wrong options. */
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import t from 'tap'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shardlab, up } from '../support/up.js'

t.test('--json prints one object first, and SIGTERM stops the cluster in order', async (t) => {
  for (const runtime of ['threads', 'inline']) {
    const running = await up('--port', '0', '--shards', '2', '--mongos', '2', '--runtime', runtime)
    const { ready } = running
    t.equal(ready.ready, true)
    t.same(
      ready.shards.map(({ id }) => id),
      ['shard01', 'shard02'],
    )
    t.equal(ready.mongos.length, 2)
    t.equal(ready.uri, `mongodb://${ready.mongos.join(',')}/`)
    t.equal(await running.stop(), 0)
  }
})

t.test('--shards 0 --standby starts replica sets that addShard adds', async (t) => {
  const running = await up('--port', '0', '--shards', '0', '--standby', 'rs0,rs1')
  const { uri, shards, standby } = running.ready
  t.same(shards, [])
  t.match(standby, [{ id: 'rs0', host: /^rs0\/127\.0\.0\.1:\d+$/ }, { id: 'rs1' }])
  const client = await MongoClient.connect(uri)
  for (const { id, host } of standby) t.match(await client.db('admin').command({ addShard: host }), { shardAdded: id })
  await client.db('shop').collection('orders').insertOne({ customer: 1 })
  await client.close()
  t.equal(await running.stop(), 0)
})

t.test('SIGINT stops the cluster in order', async (t) => {
  const running = await up('--port', '0', '--shards', '1')
  running.process.kill('SIGINT')
  await once(running.process, 'exit')
  t.equal(running.process.exitCode, 0)
})

t.test('wrong options get one sentence and exit code 2', async (t) => {
  const cases: [string[], RegExp][] = [
    [['up', '--wings'], /unknown option '--wings'/],
    [['up', '--port', '70000'], /port is 70000/],
    [['up', '--port', 'x'], /whole number/],
    [['up', '--standby', 'rs0,'], /cannot be the name of a replica set/],
    [['up', '--shards', '1001'], /shards is 1001/],
    [['up', '--emulate', '9.9'], /emulate is "9.9"; use one of/],
    [['up', '--chunk-size', 'big'], /argument 'big' is invalid: it must be a size such as 64KB/],
    [['up', '--chunk-size', '10B'], /from 1KB/],
    [['up', '--runtime', 'cloud'], /use threads or inline/],
    [['up', '--host', '203.0.113.7', '--port', '0'], /clients need no user: add auth, or insecure/],
    [['up', '--host', '203.0.113.7', '--insecure', '--port', '0'], /not an address of this machine/],
    [['up', '--from', 'nowhere.snapshot'], /nowhere\.snapshot/],
    [['up', '--from', 'package.json'], /package\.json is not a snapshot/],
    [['up', '--members', '8'], /in the API or in a topology file/],
    [['up', '--topology-file', 'nofile.yaml'], /topology file nofile\.yaml does not exist/],
    [['up', '--control-port', '70000'], /it must be a port from 0 to 65535/],
    [['flap'], /unknown command 'flap'/],
    [['doctor', '--port', '99999'], /it must be a port from 0 to 65535/],
    [['doctor', '--project', '/nonexistent'], /project is \/nonexistent, which does not exist/],
    [['watch', '.orders', '--uri', 'mongodb://127.0.0.1:1/'], /the namespace is "\.orders"; it must be a database or/],
    [['watch', 'app.', '--uri', 'mongodb://127.0.0.1:1/'], /the namespace is "app\."/],
    [['watch', '--uri', 'mongodb://127.0.0.1:1/', '--count', '0'], /it must be at least 1/],
    [
      ['watch', '--uri', 'mongodb://127.0.0.1:1/'],
      /^shardlab: no server answers at .*: start one, or correct the URI\.$/m,
    ],
  ]
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await shardlab(...args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, expected)
    t.notMatch(stderr, /\n\s+at /, 'no stack')
    t.equal(stdout, '')
  }
})

t.test('--from starts a cluster from a snapshot', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-up-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const paths = { real: join(folder, 'real.snapshot'), manual: join(folder, 'manual.snapshot') }
  for (const clock of ['real', 'manual'] as const) {
    await using cluster = await ShardedCluster.start({ runtime: 'inline', shards: 2, emulate: '8.0', clock })
    const client = await MongoClient.connect(cluster.uri)
    await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
    await client
      .db('shop')
      .collection('orders')
      .insertMany(Array.from({ length: 50 }, (_, customer) => ({ customer })))
    await client.close()
    await (await cluster.snapshot()).save(paths[clock])
  }
  const running = await up('--from', paths.real, '--port', '0')
  t.same(
    running.ready.shards.map(({ id }) => id),
    ['shard01', 'shard02'],
  )
  const client = await MongoClient.connect(running.ready.uri)
  t.equal(await client.db('shop').collection('orders').countDocuments(), 50)
  t.match(await client.db('admin').command({ buildInfo: 1 }), { version: /^8\.0/ })
  await client.close()
  t.equal(await running.stop(), 0)
  const wrong: [string[], RegExp][] = [
    [
      ['--from', paths.real, '--emulate', '7.0'],
      /^shardlab: emulate is "7\.0", but the snapshot is of a cluster with "8\.0": remove it\.\n$/,
    ],
    [['--from', paths.manual], /^shardlab: .*manual\.snapshot is the snapshot of a cluster with a manual clock, .+\n$/],
  ]
  for (const [args, expected] of wrong) {
    const { code, stdout, stderr } = await shardlab('up', '--port', '0', ...args)
    t.same([code, stdout], [2, ''], args.join(' '))
    t.match(stderr, expected)
  }
})

t.test('a port in use is an error with exit code 2', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await shardlab('up', '--port', String(port))
  t.equal(code, 2)
  t.match(stderr, new RegExp(`port ${port} .* is in use`))
})

t.test('help shows examples', async (t) => {
  const { code, stdout } = await shardlab('up', '--help')
  t.equal(code, 0)
  t.match(stdout, /Examples:/)
})

t.test('explain-balance explains every move', async (t) => {
  const running = await up('--port', '0', '--shards', '2', '--runtime', 'inline', '--chunk-size', '1KB')
  const { uri, shards } = running.ready
  const client = await MongoClient.connect(uri)
  await client.db('admin').command({ balancerStop: 1 })
  await client.db('admin').command({ enableSharding: 'shop', primaryShard: 'shard01' })
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { k: 1 } })
  const explain = (...args: string[]) => shardlab('explain-balance', '--uri', uri, '--ns', ...args)
  const fine = await explain('shop.orders')
  t.match(fine, { code: 0, stderr: '', stdout: /^shop\.orders is balanced\.\n/ })
  await client
    .db('shop')
    .collection('orders')
    .insertMany(Array.from({ length: 100 }, (_, k) => ({ k, pad: 'x'.repeat(100) })))
  const moving = await explain('shop.orders', '--json')
  t.equal(moving.code, 1)
  t.match(JSON.parse(moving.stdout), {
    ns: 'shop.orders',
    balanced: false,
    answer: 'A round would change something, but the balancer is stopped.',
    candidates: [{ from: 'shard01', to: 'shard02', reason: 'chunksImbalance' }],
  })
  const cases: [string[], RegExp][] = [
    [['--uri', uri, '--ns', 'shop.none'], /^shardlab: the cluster has no sharded collection shop\.none\.\n$/],
    [
      ['--uri', shards[0]!.uri, '--ns', 'shop.orders'],
      /^shardlab: the cluster cannot explain shop\.orders: only routers explain the balance: connect to a mongos\.\n$/,
    ],
    [
      ['--uri', 'mongodb://127.0.0.1:1/', '--ns', 'shop.orders'],
      /^shardlab: no cluster answers at mongodb:\/\/127\.0\.0\.1:1\/ \(.+\): start one, or correct the URI\.\n$/,
    ],
    [['--ns', 'shop.orders'], /required option '--uri <uri>'/],
  ]
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await shardlab('explain-balance', ...args)
    t.same([code, stdout], [2, ''], args.join(' '))
    t.match(stderr, expected)
  }
  t.match((await shardlab('explain-balance', '--help')).stdout, /Examples:\n {2}shardlab explain-balance --uri/)
  await client.close()
  t.equal(await running.stop(), 0)
})
