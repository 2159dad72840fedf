/** Logins message by message, in every version, and across failovers and copies. */
import { Binary, type Document } from '@shardlab/bson'
import { ShardedCluster } from '@shardlab/cluster'
import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { MongoClient } from 'mongodb'
import t, { type Test } from 'tap'
import { RawClient } from '../support/raw-client.js'
import { binary, logIn, ScramClient, textOf } from '../support/scram-client.js'
import { Deployment, failure, statusOf } from './support/deployment.js'

const endpointOf = (uri: string): string => uri.replace(/^mongodb:\/\//, '').replace(/[/,].*$/, '')

async function standalone(t: Test, emulate: EmulatedVersion = '7.0'): Promise<() => Promise<RawClient>> {
  const { cluster } = await Deployment.start(t, { topology: 'standalone', emulate })
  return async () => {
    const client = await RawClient.connect(endpointOf(cluster.uri))
    t.teardown(() => client.close())
    return client
  }
}

const createRoot = (mechanisms?: readonly string[]): Document => ({
  createUser: 'root',
  pwd: 'secret',
  roles: ['root'],
  ...(mechanisms === undefined ? {} : { mechanisms }),
  $db: 'admin',
})
const root = { user: 'root', password: 'secret' }

t.test('D914 malformed and replayed messages, unknown mechanisms, and messages out of order', async (t) => {
  const connect = await standalone(t)
  await (await connect()).command(createRoot())
  const start = (payload: unknown, more: Document = {}): Document => ({
    saslStart: 1,
    mechanism: 'SCRAM-SHA-256',
    payload,
    $db: 'admin',
    ...more,
  })
  const go = (payload: unknown, more: Document = {}): Document => ({
    saslContinue: 1,
    conversationId: 1,
    payload,
    $db: 'admin',
    ...more,
  })
  const failed = { ok: 0, code: 18, errmsg: 'Authentication failed.' }
  const noSession = { code: 17, errmsg: 'No SASL session state found' }
  const client = await connect()
  const { first } = new ScramClient(root)
  t.match(await client.command(go(binary(''))), noSession)
  for (const payload of [
    '',
    'x',
    'n,,',
    'n,,n=root',
    'n,,r=abcdefgh',
    'p=tls-unique,,n=root,r=abcdefgh',
    'x'.repeat(1e6),
  ]) {
    t.match(await client.command(start(binary(payload))), failed, payload.slice(0, 40))
    t.match(await client.command(go(binary('c=biws,r=abc,p=abc'))), noSession)
  }
  t.match(await client.command(start(1)), { code: 14 })
  t.match(await client.command(start(binary(first), { mechanism: 'PLAIN' })), {
    code: 334,
    errmsg: 'Received authentication for mechanism PLAIN which is not enabled',
  })
  t.match(await client.command({ authenticate: 1, mechanism: 'MONGODB-CR', $db: 'admin' }), { code: 334 })

  t.match(await client.command(start(binary(first))), { conversationId: 1, done: false, ok: 1 })
  t.match(await client.command(go(binary('c=biws,r=other,p=AAAA'))), failed)
  t.match(await client.command(go(binary('c=biws,r=other,p=AAAA'))), noSession, 'a failed step ends the login')

  const scram = new ScramClient(root)
  const challenge = textOf((await client.command(start(binary(scram.first))))['payload'])
  t.match(await client.command(go(binary(scram.final(challenge)), { conversationId: 2 })), {
    code: 17,
    errmsg: 'sasl: Mismatched conversation id',
  })
  const again = textOf((await client.command(start(binary(scram.first))))['payload'])
  t.not(again, challenge, 'another nonce')
  t.match(await client.command(go(binary(scram.final(challenge)))), failed, 'the answer to an earlier challenge')
  const third = textOf((await client.command(start(binary(scram.first))))['payload'])
  t.match(await client.command(go(binary(scram.final(third)), { $db: 'shop' })), {
    code: 17,
    errmsg: 'Attempt to switch database target during SASL authentication.',
  })

  const last = textOf((await client.command(start(binary(scram.first))))['payload'])
  t.match(await client.command(go(binary(scram.final(last)))), { done: false, ok: 1 }, 'the long form')
  t.match(await client.command({ ...go(binary('')) }), { done: true, ok: 1 })
  t.match((await client.command({ connectionStatus: 1, $db: 'admin' }))['authInfo'], {
    authenticatedUsers: [{ user: 'root', db: 'admin' }],
  })
  await client.command({ createUser: 'ann', pwd: 'pass', roles: [], $db: 'admin' })
  t.match(await logIn(client, { user: 'ann', password: 'pass' }), {
    code: 5626701,
    errmsg: 'Each client connection may only be authenticated once. Previously authenticated as: root@admin',
  })
  t.match(await client.command({ logout: 1, $db: 'admin' }), { ok: 1 })
  t.match(await client.command({ count: 'rows', $db: 'shop' }), { code: 13 })
  t.match(await logIn(client, { user: 'ann', password: 'pass' }), { done: true, ok: 1 })

  const base64 = await connect()
  const text = (payload: string): string => Buffer.from(payload).toString('base64')
  const reply = await base64.command(start(text(scram.first)))
  const decoded = Buffer.from(reply['payload'] as string, 'base64').toString()
  t.match(await base64.command(go(text(scram.final(decoded)))), { payload: String, ok: 1 }, 'payloads in base64')
})

t.test('hello names mechanisms and takes the first message', async (t) => {
  const connect = await standalone(t)
  const client = await connect()
  await client.command(createRoot(['SCRAM-SHA-1']))
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
    const connect = await standalone(t, version)
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

t.test('a hundred failing logins leave time for others', async (t) => {
  const connect = await standalone(t)
  const client = await connect()
  await client.command(createRoot())
  await logIn(client, root)
  const others = await Promise.all(Array.from({ length: 100 }, () => connect()))
  const failing = Promise.all(others.map((each) => logIn(each, { ...root, password: 'wrong' })))
  let isOver = false
  void failing.then(() => (isOver = true))
  let counted = 0
  for (; !isOver; counted++) t.match(await client.command({ count: 'rows', $db: 'shop' }), { ok: 1 })
  t.ok(counted > 0)
  for (const reply of await failing) t.match(reply, { code: 18 })
})
