/**
 * Logins in every version, and across failovers and copies. `hostile-logins.test.ts` has those of
 * clients that do not follow the protocol.
 */
import { Binary, type Document } from '@shardlab/bson'
import { ShardedCluster } from '@shardlab/cluster'
import { emulatedVersions } from '@shardlab/sharding'
import { MongoClient } from 'mongodb'
import t, { type Test } from 'tap'
import { RawClient } from '../support/raw-client.js'
import { binary, logIn, ScramClient, textOf } from '../support/scram-client.js'
import { Deployment, failure, statusOf } from './support/deployment.js'
import { connections, createRoot, root } from './support/raw-logins.js'

/** A router whose clock the test sets, with the user `root` in its cache. */
async function withRouter(t: Test): Promise<{ cluster: ShardedCluster; connect: () => Promise<RawClient> }> {
  const { cluster } = await Deployment.start(t, { shards: 1, clock: 'manual', autoAdvance: false })
  const connect = async (): Promise<RawClient> => {
    const client = await RawClient.connect(cluster.uri.replace(/^mongodb:\/\//, '').replace(/[/,].*$/, ''))
    t.teardown(() => client.close())
    return client
  }
  await (await connect()).command(createRoot())
  await logIn(await connect(), root)
  return { cluster, connect }
}

t.test('hello names mechanisms and takes the first message', async (t) => {
  const connect = await connections(t, '7.0')
  const client = await connect()
  await client.command(createRoot({ mechanisms: ['SCRAM-SHA-1'] }))
  const hello = (more: Document): Promise<Document> => client.command({ hello: 1, $db: 'admin', ...more })
  t.same((await hello({ saslSupportedMechs: 'admin.root' }))['saslSupportedMechs'], ['SCRAM-SHA-1'])
  t.equal((await hello({ saslSupportedMechs: 'admin.unknown' }))['saslSupportedMechs'], undefined)
  t.match(await hello({ saslSupportedMechs: 'root' }), { code: 2 })
  t.match(await client.command({ saslContinue: 1, conversationId: 1, payload: binary(''), $db: 'admin' }), {
    code: 17,
    errmsg: 'saslContinue must follow saslStart',
  })
  const speculate = (login: ConstructorParameters<typeof ScramClient>[0]): Promise<Document> => {
    const { mechanism, first } = new ScramClient(login)
    return hello({
      speculativeAuthenticate: {
        saslStart: 1,
        mechanism,
        payload: binary(first),
        options: { skipEmptyExchange: true },
        db: 'admin',
      },
    })
  }
  for (const login of [{ ...root, user: 'unknown' }, root])
    t.equal((await speculate(login))['speculativeAuthenticate'], undefined, 'unknown user, or another mechanism')
  const sha1 = { ...root, mechanism: 'SCRAM-SHA-1' } as const
  const { speculativeAuthenticate } = await speculate(sha1)
  t.match(speculativeAuthenticate, { conversationId: 1, done: false, payload: Binary })
  const payload = binary(new ScramClient(sha1).final(textOf((speculativeAuthenticate as Document)['payload'])))
  t.match(await client.command({ saslContinue: 1, conversationId: 1, payload, $db: 'admin' }), { done: true, ok: 1 })
})

for (const version of emulatedVersions)
  t.test(`${version}: the first user, a login, and refusals in the words of the version`, async (t) => {
    const connect = await connections(t, version)
    const client = await connect()
    const refused = await client.command({ count: 'rows', $db: 'shop' })
    t.match(refused, { ok: 0, code: 13, errmsg: /^not authorized on shop to execute command \{ count: "rows"/ })
    t.match(await client.command(createRoot()), { ok: 1 })
    const word = emulatedVersions.indexOf(version) >= emulatedVersions.indexOf('7.0') ? 'Command' : 'command'
    t.match(await client.command({ count: 'rows', $db: 'shop' }), {
      code: 13,
      errmsg: version === '2.6' ? /^not authorized on shop/ : `${word} count requires authentication`,
    })
    t.match(await client.command({ ...createRoot(), createUser: 'second' }), { code: 13 })
    t.notMatch(JSON.stringify(await client.command({ ...createRoot(), createUser: 'second' })), /secret/)
    t.match(await logIn(client, { ...root, password: 'wrong', mechanism: 'SCRAM-SHA-1' }), { code: 18 })
    t.match(await logIn(client, { ...root, mechanism: 'SCRAM-SHA-1' }), { ok: 1, done: true })
    t.match(await client.command({ insert: 'rows', documents: [{ _id: 1 }], $db: 'shop' }), { ok: 1, n: 1 })
    t.match(await client.command({ usersInfo: 1, $db: 'admin' }), { users: [{ _id: 'admin.root' }] })
  })

t.test('passwords are prepared by SASLprep for SHA-256', async (t) => {
  const deployment = await Deployment.start(t, { topology: 'standalone' })
  const client = await deployment.createRoot()
  const create = { roles: [], mechanisms: ['SCRAM-SHA-256'] }
  await client.db('admin').command({ createUser: 'IX', pwd: 'IX', ...create })
  await client.db('admin').command({ createUser: '\u2168', pwd: '\u2163', ...create })
  for (const [user, password] of [
    ['IX', 'IX'],
    ['IX', 'I\u00adX'],
    ['\u2168', 'IV'],
    ['\u2168', 'I\u00adV'],
  ] as const)
    t.match((await statusOf(await deployment.connect({ user, password })))['authInfo'].authenticatedUsers, [{ user }])
  t.match(await failure(client.db('admin').command({ createUser: 'bad', pwd: 'a\u0007\u00e9', ...create })), {
    code: 2,
  })
})

t.test('users survive a failover and log in to secondaries', async (t) => {
  const deployment = await Deployment.start(t, { topology: 'replica-set' })
  const client = await deployment.createRoot()
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  await rows.insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
  await client.db('admin').command({ replSetStepDown: 10, force: true })
  await rows.insertOne({ _id: 2 }, { writeConcern: { w: 3 } })
  for (const { uri } of deployment.cluster.set!.members) {
    const direct = new MongoClient(uri, {
      auth: { username: 'root', password: 'secret' },
      readPreference: 'secondaryPreferred',
    })
    t.teardown(() => direct.close())
    t.equal(await direct.db('shop').collection('rows').countDocuments(), 2)
  }
  await client.db('admin').command({ dropUser: 'root' })
  t.match(await failure(rows.findOne({})), { code: 13 })
})

t.test('copies of a cluster have its users, and check them', async (t) => {
  const deployment = await Deployment.start(t)
  const client = await deployment.createRoot()
  await deployment.createUser(client, 'ann', [{ role: 'read', db: 'shop' }])
  const fork = await deployment.cluster.fork()
  t.teardown(() => fork.stop())
  const ann = await deployment.connect({ user: 'ann', password: 'pass' }, fork.uri)
  t.match(await failure(ann.db('shop').collection('rows').insertOne({})), { code: 13 })
  await client.db('admin').command({ dropUser: 'ann' })
  t.equal(await ann.db('shop').collection('rows').findOne({}), null, 'the copy still has the user')
  const copy = await ShardedCluster.start({ from: await fork.snapshot() })
  t.teardown(() => copy.stop())
  const again = await deployment.connect({ user: 'ann', password: 'pass' }, copy.uri)
  t.match(await failure(again.db('shop').collection('rows').insertOne({})), { code: 13 })
})

t.test('restoring a snapshot takes users away from connections', async (t) => {
  const deployment = await Deployment.start(t)
  const client = await deployment.createRoot()
  const before = await deployment.cluster.snapshot()
  const ann = await deployment.createUser(client, 'ann', [{ role: 'read', db: 'shop' }])
  t.equal(await ann.db('shop').collection('rows').findOne({}), null)
  await deployment.cluster.restore(before)
  t.match(await failure(ann.db('shop').collection('rows').findOne({})), { code: 13 })
  t.equal(await client.db('shop').collection('rows').findOne({}), null, 'root was in the snapshot')
})

t.test('a router that cannot read users serves those that it knows, and refuses others as unknown', async (t) => {
  const { cluster, connect } = await withRouter(t)
  await cluster.crash('config')
  t.match(await logIn(await connect(), root), { ok: 1, done: true }, 'in the cache')
  let reply: Document | null = null
  const refused = logIn(await connect(), { ...root, user: 'nobody' }).then((each) => (reply = each))
  while (reply === null) await cluster.advance(5000)
  t.match(await refused, { code: 18, errmsg: 'Authentication failed.' })
})
