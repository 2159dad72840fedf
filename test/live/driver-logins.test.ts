/**
 * What the Node.js driver's own tests of authentication ask of a server, without Kerberos, AWS and
 * OIDC. `test/clients/scripts/logins.py` has the cases of PyMongo.
 */
import { MongoClient, type Document, type MongoClientOptions } from 'mongodb'
import t from 'tap'
import { Deployment, failure, statusOf } from './support/deployment.js'

const users = [
  { user: 'sha1', password: 'sha1', mechanisms: ['SCRAM-SHA-1'] },
  { user: 'sha256', password: 'sha256', mechanisms: ['SCRAM-SHA-256'] },
  { user: 'both', password: 'both', mechanisms: ['SCRAM-SHA-1', 'SCRAM-SHA-256'] },
  { user: 'IX', password: 'IX', mechanisms: ['SCRAM-SHA-256'] },
  { user: '\u2168', password: '\u2163', mechanisms: ['SCRAM-SHA-256'] },
  // With SCRAM-SHA-1 the driver digests the escaped name, and cannot log in.
  { user: 'a,b=c@d:e/f%', password: '@:/?,=%&#', mechanisms: ['SCRAM-SHA-256'] },
] as const

/** Passwords before and after their preparation. */
const prepared: readonly (readonly [user: string, password: string])[] = [
  ['IX', 'IX'],
  ['IX', 'I\u00adX'],
  ['IX', '\u2168'],
  ['\u2168', 'IV'],
  ['\u2168', 'I\u00adV'],
  ['\u2168', '\u2163'],
]

for (const emulate of process.env['SHARDLAB_LONG'] === '1' ? (['4.0', '8.0'] as const) : (['8.0'] as const))
  t.test(`${emulate}: mechanisms, names and passwords by options and by URI`, async (t) => {
    const deployment = await Deployment.start(t, { emulate, topology: 'standalone' })
    const root = await deployment.createRoot()
    for (const { user, password, mechanisms } of users)
      await root.db('admin').command({ createUser: user, pwd: password, roles: ['root'], mechanisms })
    const logsIn = async (uri: string, user: string, options: MongoClientOptions = {}): Promise<void> => {
      const client = new MongoClient(uri, options)
      t.match(await client.db('test').stats(), { ok: 1 }, user)
      t.match((await statusOf(client))['authInfo'].authenticatedUsers, [{ user }])
      await client.close()
    }
    const { uri } = deployment.cluster
    const withUser = (user: string, password: string, query = ''): string =>
      `${uri.replace('//', `//${encodeURIComponent(user)}:${encodeURIComponent(password)}@`)}admin${query}`
    for (const { user, password, mechanisms } of users) {
      const auth = { username: user, password }
      for (const authMechanism of mechanisms) {
        await logsIn(uri, user, { auth, authSource: 'admin', authMechanism })
        await logsIn(withUser(user, password, `?authMechanism=${authMechanism}`), user)
      }
      await logsIn(uri, user, { auth, authSource: 'admin' })
      await logsIn(withUser(user, password), user)
    }
    for (const [user, password] of prepared) {
      await logsIn(uri, user, { auth: { username: user, password }, authMechanism: 'SCRAM-SHA-256' })
      await logsIn(withUser(user, password), user)
    }
    const failed = { code: 18, message: 'Authentication failed.' }
    for (const wrong of [
      withUser('sha256', 'sha256', '?authMechanism=SCRAM-SHA-1'),
      withUser('sha1', 'sha1', '?authMechanism=SCRAM-SHA-256'),
      withUser('both', 'pencil'),
      withUser('nobody', 'pencil'),
      withUser('\u2168', 'IX'),
      withUser('both', 'both').replace(/admin$/, 'test'),
    ])
      t.match(await failure(deployment.connect(null, wrong)), failed, wrong)
  })

/** How many messages of logins the server receives while a new client runs a command. */
async function messagesOfLogin(
  root: MongoClient,
  { cluster }: Deployment,
  options: MongoClientOptions = {},
): Promise<{ saslStart: number; saslContinue: number }> {
  const total = async () => {
    const { metrics } = await root.db('admin').command({ serverStatus: 1 })
    const of = (name: string): number => Number(metrics.commands[name]?.total ?? 0)
    return { saslStart: of('saslStart'), saslContinue: of('saslContinue') }
  }
  const before = await total()
  const client = new MongoClient(cluster.uri, { auth: { username: 'root', password: 'secret' }, ...options })
  await client.db('admin').command({ ping: 1 })
  await client.close()
  const after = await total()
  return {
    saslStart: after.saslStart - before.saslStart,
    saslContinue: after.saslContinue - before.saslContinue,
  }
}

t.test('the first message is in the handshake since 4.4, and the last exchange is left out', async (t) => {
  for (const [emulate, messages] of [
    ['4.0', { saslStart: 1, saslContinue: 2 }],
    ['4.4', { saslStart: 0, saslContinue: 1 }],
    ['8.0', { saslStart: 0, saslContinue: 1 }],
  ] as const) {
    const deployment = await Deployment.start(t, { emulate, topology: 'standalone' })
    const root = await deployment.createRoot()
    t.same(await messagesOfLogin(root, deployment), messages, emulate)
    if (emulate !== '8.0') continue
    const serverApi = { version: '1', strict: true, deprecationErrors: true } as const
    t.same(await messagesOfLogin(root, deployment, { serverApi }), messages, 'with apiStrict')
    t.same(await messagesOfLogin(root, deployment, { serverApi, authMechanism: 'SCRAM-SHA-1' }), messages)
  }
})

t.test('a client that must log in again does so on the same connection', async (t) => {
  const deployment = await Deployment.start(t, { emulate: '8.0', shards: 1 })
  const root = await deployment.createRoot()
  for (const retries of [true, false]) {
    const client = new MongoClient(deployment.cluster.uri, {
      auth: { username: 'root', password: 'secret' },
      monitorCommands: true,
      retryReads: retries,
      retryWrites: retries,
    })
    t.teardown(() => client.close())
    const rows = client.db('shop').collection<Document & { _id: number }>('rows')
    await rows.deleteMany({})
    for (const [name, run] of [
      ['find', () => rows.find({}).toArray()],
      ['insert', () => rows.insertOne({ _id: 1 })],
    ] as const) {
      await root.db('admin').command({
        configureFailPoint: 'failCommand',
        mode: { times: 1 },
        data: { failCommands: [name], errorCode: 391 },
      })
      const events: string[] = []
      const note = (event: { readonly name: string; readonly commandName: string }): void => {
        events.push(`${event.name.slice('command'.length)} ${event.commandName}`)
      }
      for (const event of ['commandStarted', 'commandSucceeded', 'commandFailed'] as const) client.on(event, note)
      await run()
      for (const event of ['commandStarted', 'commandSucceeded', 'commandFailed'] as const) client.off(event, note)
      t.match(
        events.filter((event) => event.endsWith(name)),
        [`Started ${name}`, `Failed ${name}`, `Started ${name}`, `Succeeded ${name}`],
      )
      t.ok(events.includes('Succeeded saslContinue'), 'it has logged in again')
    }
  }
})
