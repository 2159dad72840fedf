/** Limits of clients and parameters that are set at the start. */
import { MongoClient } from 'mongodb'
import { once } from 'node:events'
import { connect } from 'node:net'
import { ShardedCluster, type LimitEvent } from 'shardlab'
import t from 'tap'

t.test('each limit of a cluster is an error of the server and an event', async (t) => {
  await using cluster = await ShardedCluster.start({
    ...{ shards: 1, runtime: 'inline' },
    limits: { maxIncomingConnections: 5, maxOpenCursors: 1, maxRequestMemory: '64KB' },
    setParameter: { maxSessions: 2 },
  })
  const events: LimitEvent[] = []
  cluster.on('limit', (event) => events.push(event))
  const client = await MongoClient.connect(cluster.uri, { maxPoolSize: 1 })
  const things = client.db('app').collection('things')
  await things.insertMany([{ n: 1 }, { n: 2 }, { n: 3 }])

  await t.rejects(things.insertOne({ data: 'x'.repeat(70_000) }), {
    message: 'too much memory of requests: the limit is 65536 bytes',
    code: 365,
  })
  t.match(events.splice(0), [{ member: 'mongos01', limit: 'requestBytesMax', value: 65_536 }])

  const session = client.startSession()
  const [first, second] = [1, 2].map(() => things.find({}, { batchSize: 1, session }))
  await first!.next()
  await t.rejects(second!.next(), { code: 365, message: /too many open cursors: the limit is 1/ })
  t.match(events.splice(0), [{ limit: 'cursorsMax', value: 1 }])
  await first!.close()

  const further = [client.startSession(), client.startSession()]
  await things.findOne({}, { session: further[0]! })
  await t.rejects(things.findOne({}, { session: further[1]! }), { code: 261, codeName: 'TooManyLogicalSessions' })
  t.match(events.splice(0), [{ member: 'mongos01', limit: 'maxSessions', value: 2 }])
  for (const each of [session, ...further]) await each.endSession()

  const { hostname: host, port } = new URL(cluster.uri)
  const sockets = Array.from({ length: 5 }, () => connect({ host, port: Number(port) }))
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.any(sockets.map((socket) => once(socket.resume(), 'end')))
  t.match(events[0], { member: 'mongos01', limit: 'maxIncomingConnections', value: 5 })
  await client.close()
})

t.test('D700 getCmdLineOpts shows the parameters, the limit of connections and the access control', async (t) => {
  const options = {
    runtime: 'inline',
    limits: { maxIncomingConnections: 50 },
    setParameter: {
      orphanCleanupDelaySecs: 7,
      quiet: true,
      authenticationMechanisms: ['SCRAM-SHA-1', 'SCRAM-SHA-256'],
    },
  } as const
  const ofAll = { enableTestCommands: '1', quiet: 'true', authenticationMechanisms: 'SCRAM-SHA-1,SCRAM-SHA-256' }
  const net = { bindIp: '127.0.0.1', maxIncomingConnections: 50, port: Number }
  const optionsOf = async (client: MongoClient) => client.db('admin').command({ getCmdLineOpts: 1 })

  await using alone = await ShardedCluster.start({ ...options, topology: 'standalone', auth: true })
  const first = await MongoClient.connect(alone.uri)
  await first.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
  await first.close()
  const root = await MongoClient.connect(alone.uri, { auth: { username: 'root', password: 'secret' } })
  const { argv, parsed } = await optionsOf(root)
  t.match(parsed, {
    net,
    security: { authorization: 'enabled' },
    setParameter: { ...ofAll, orphanCleanupDelaySecs: '7' },
  })
  t.same(Object.keys(parsed), ['net', 'security', 'setParameter'])
  t.same(argv, [
    ...['mongod', '--auth', '--bind_ip', '127.0.0.1', '--port', String(parsed.net.port), '--maxConns', '50'],
    ...['--setParameter', 'enableTestCommands=1', '--setParameter', 'orphanCleanupDelaySecs=7'],
    ...['--setParameter', 'quiet=true', '--setParameter', 'authenticationMechanisms=SCRAM-SHA-1,SCRAM-SHA-256'],
  ])
  await root.close()

  await using sharded = await ShardedCluster.start({ ...options, shards: 1 })
  const router = await MongoClient.connect(sharded.uri)
  const ofRouter = (await optionsOf(router))['parsed']
  t.match(ofRouter, { net, sharding: { configDB: String } })
  t.same(ofRouter.setParameter, ofAll, 'without parameters that routers lack')
  await router.close()
})

t.test('members start with parameters, and refuse wrong ones in one sentence', async (t) => {
  await using cluster = await ShardedCluster.start({
    ...{ shards: 1, runtime: 'inline' },
    setParameter: { orphanCleanupDelaySecs: 7, quiet: true, authenticationMechanisms: 'SCRAM-SHA-256' },
  })
  const at = async (uri: string, name: string): Promise<unknown> => {
    const client = await MongoClient.connect(uri, { directConnection: true })
    const reply = await client.db('admin').command({ getParameter: 1, [name]: 1 })
    await client.close()
    return reply[name]
  }
  const shard = cluster.shards[0]!.uri
  t.equal(await at(shard, 'orphanCleanupDelaySecs'), 7)
  for (const uri of [shard, cluster.uri]) {
    t.equal(await at(uri, 'quiet'), true)
    t.same(await at(uri, 'authenticationMechanisms'), ['SCRAM-SHA-256'])
  }
  await cluster.crash('shard01')
  await cluster.restart('shard01')
  t.equal(await at(shard, 'orphanCleanupDelaySecs'), 7, 'also after a restart')
  const wrong: [Readonly<Record<string, string | number | boolean>>, string][] = [
    [{ maxSession: 1 }, 'setParameter has maxSession, which is not a parameter of 7.0; did you mean maxSessions?'],
    [
      { authenticationMechanisms: 'SCRAM-SHA-1,PLAIN' },
      'setParameter.authenticationMechanisms is "SCRAM-SHA-1,PLAIN": authenticationMechanisms does not support PLAIN.',
    ],
    [{ maxSessions: 'many' }, 'setParameter.maxSessions is "many": Unable to coerce value to integral type.'],
    [
      { logicalSessionRefreshMillis: 1 },
      'setParameter.logicalSessionRefreshMillis is 1: logicalSessionRefreshMillis is always 300000.',
    ],
    [
      { authSchemaVersion: 3 },
      'setParameter.authSchemaVersion is 3: not allowed to set [authSchemaVersion] at startup.',
    ],
    [
      { periodicNoopIntervalSecs: 3 },
      'setParameter has periodicNoopIntervalSecs: use the option periodicNoopIntervalSecs.',
    ],
  ]
  for (const [setParameter, message] of wrong)
    await t.rejects(ShardedCluster.start({ shards: 1, runtime: 'inline', setParameter }), {
      name: 'OptionError',
      message,
    })
})
