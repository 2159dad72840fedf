/** Users whose certificate is their proof, with the driver. */
import { ShardedCluster, type ClusterOptions, type TlsSettings } from '@shardlab/cluster'
import { MongoClient, type Document, type MongoClientOptions } from 'mongodb'
import t, { type Test } from 'tap'
import { failure } from '../support/deployment.js'
import { pem, required } from './certificates.js'
import { driverOptions, type ClientFiles } from './clients.js'

const name = 'CN=client,OU=Clients,O=Shardlab'
const own: ClientFiles = { ca: pem('ca'), own: pem('client') }
const byCertificate = { authMechanism: 'MONGODB-X509', authSource: '$external' } as const
const asRoot = { auth: { username: 'root', password: 'secret' } }
const noSubject = 'No verified subject name available from client'
const hidden = 'Authentication failed.'

class World {
  readonly #t: Test
  readonly #cluster: ShardedCluster
  #root: Promise<MongoClient> | null = null

  private constructor(t: Test, cluster: ShardedCluster) {
    this.#t = t
    this.#cluster = cluster
  }

  static async start(t: Test, options: ClusterOptions = {}): Promise<World> {
    const cluster = await ShardedCluster.start({
      ...{ runtime: 'inline', topology: 'standalone', auth: true, seed: 1, tls: required },
      ...options,
    })
    t.teardown(() => cluster.stop())
    const world = new World(t, cluster)
    const first = await world.connect()
    await first.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
    return world
  }

  /** @param user in the connection string */
  async connect(options: MongoClientOptions = {}, files: ClientFiles = own, user?: string): Promise<MongoClient> {
    const uri = this.#cluster.uri.replace('?tls=true', '').replace('?tls=true&', '?')
    const all = { serverSelectionTimeoutMS: 3000, maxPoolSize: 1, ...driverOptions(files), ...options }
    const client = new MongoClient(user === undefined ? uri : uri.replace('//', `//${encodeURIComponent(user)}@`), all)
    this.#t.teardown(() => client.close())
    await client.connect()
    return client
  }

  root(): Promise<MongoClient> {
    return (this.#root ??= this.connect(asRoot))
  }

  /** A user of `$external` that may read and write the database shop. */
  async createUser(user: string): Promise<Document> {
    const external = (await this.root()).db('$external')
    await external.command({ createUser: user, roles: [{ role: 'readWrite', db: 'shop' }] })
    return (await external.command({ usersInfo: user }))['users'][0]
  }
}

const authenticate = (client: MongoClient, command: Document = {}, db = '$external'): Promise<Document> =>
  client.db(db).command({ authenticate: 1, mechanism: 'MONGODB-X509', ...command })

for (const [emulate, topology] of [
  ['4.0', 'standalone'],
  ['4.4', 'replica-set'],
  ['8.0', 'sharded'],
] as const)
  t.test(`${emulate}, ${topology}: the user that a certificate names logs in with it`, async (t) => {
    const world = await World.start(t, { emulate, topology, ...(topology === 'sharded' ? { shards: 1 } : {}) })
    const unknown =
      topology === 'sharded' ? `User "${name}@$external" not found` : `Could not find user ${name}@$external`
    t.match(await failure(world.connect(byCertificate)), { code: 11, message: unknown })
    t.match(await world.createUser(name), { user: name, db: '$external', mechanisms: ['external'] })
    for (const user of [undefined, name]) {
      const client = await world.connect(byCertificate, own, user)
      await client.db('shop').collection('rows').insertOne({})
      t.match(await failure(client.db('other').collection('rows').insertOne({})), { code: 13 })
      t.match((await client.db('admin').command({ connectionStatus: 1 }))['authInfo'], {
        authenticatedUsers: [{ user: name, db: '$external' }],
        authenticatedUserRoles: [{ role: 'readWrite', db: 'shop' }],
      })
    }
    const start = { authenticate: 1, mechanism: 'MONGODB-X509', db: '$external' }
    const { speculativeAuthenticate } = await (
      await world.connect()
    )
      .db('admin')
      .command({ isMaster: 1, speculativeAuthenticate: start })
    t.same(speculativeAuthenticate, emulate === '4.0' ? undefined : { dbname: '$external', user: name })
  })

t.test('a login without the right certificate fails as in each version', async (t) => {
  for (const [emulate, reasons] of [
    ['4.0', { other: 'auth failed', hidden: 'auth failed', member: 'auth failed' }],
    [
      '4.4',
      {
        other: /^There is no x\.509 client certificate matching/,
        hidden: noSubject,
        member: /^The provided certificate can only/,
      },
    ],
    ['7.0', { other: hidden, hidden, member: hidden }],
  ] as const) {
    const lenient = { allowConnectionsWithoutCertificates: true, allowInvalidCertificates: true } as const
    const certificateKeyFile = pem('server-2')
    const world = await World.start(t, {
      emulate,
      tls: { ...required, certificateKeyFile, mode: 'preferTLS', ...lenient },
    })
    const member = 'CN=rotated,OU=Tests,O=Shardlab'
    for (const user of [name, 'CN=expired,OU=Clients,O=Shardlab', member]) await world.createUser(user)
    const client = await world.connect()
    t.match(await failure(authenticate(client, { user: member })), { code: 18, message: reasons.other }, emulate)
    t.match(await failure(authenticate(client, {}, 'admin')), { code: 17, message: /must always use the \$external/ })
    const forMembers = await world.connect({}, { ca: pem('ca'), own: pem('server-2') })
    t.match(await failure(authenticate(forMembers)), { code: 18, message: reasons.member }, emulate)
    t.match(await authenticate(client), { dbname: '$external', user: name }, 'the connection is still usable')
    const noTls = await world.connect({}, {})
    t.match(await failure(authenticate(noTls, { user: name })), { code: 18, message: reasons.hidden }, 'without TLS')
    for (const files of [{}, { own: pem('client-other') }, { own: pem('client-expired') }]) {
      const uncertified = await world.connect({}, { ca: pem('ca'), ...files })
      for (const user of [name, 'CN=expired,OU=Clients,O=Shardlab'])
        t.match(await failure(authenticate(uncertified, { user })), { code: 18, message: reasons.hidden }, emulate)
      t.match(
        await failure(authenticate(uncertified)),
        emulate === '4.0' ? { code: 11 } : { code: 18, message: reasons.hidden },
      )
      t.match(await failure(uncertified.db('shop').collection('rows').insertOne({})), { code: 13 })
    }
  }
})

t.test('without an authority, or without the mechanism, no certificate is a proof', async (t) => {
  const { CAFile: _, ...withoutAuthority }: TlsSettings = required
  const unverified = await World.start(t, { emulate: '4.0', tls: withoutAuthority })
  await unverified.createUser(name)
  t.match(await failure(authenticate(await unverified.connect(), { user: name })), { code: 18, message: 'auth failed' })
  const withoutTls = await ShardedCluster.start({ runtime: 'inline', topology: 'standalone', emulate: '4.4' })
  t.teardown(() => withoutTls.stop())
  const client = await MongoClient.connect(withoutTls.uri)
  t.match(await failure(authenticate(client)), {
    code: 17,
    message: 'SSL support is required for the MONGODB-X509 mechanism.',
  })
  await client.close()
  for (const [emulate, answer] of [
    ['4.0', { code: 2, message: 'x.509 authentication is disabled.' }],
    ['6.0', { code: 334, message: 'Received authentication for mechanism MONGODB-X509 which is not enabled' }],
    ['7.0', { code: 18, message: hidden }],
  ] as const) {
    const world = await World.start(t, { emulate, setParameter: { authenticationMechanisms: 'SCRAM-SHA-1' } })
    await world.createUser(name)
    t.match(await failure(authenticate(await world.connect())), answer)
  }
})

t.test('a connection has one user, and the restrictions of a user hold for certificates, too', async (t) => {
  const world = await World.start(t)
  await world.createUser(name)
  const root = await world.root()
  t.match(await failure(authenticate(root)), { code: 18, message: hidden })
  await root.db('$external').command({
    updateUser: name,
    authenticationRestrictions: [{ clientSource: ['10.0.0.0/8'] }],
  })
  t.match(await failure(world.connect(byCertificate)), { code: 18, message: hidden })
})
