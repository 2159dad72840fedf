/** Members on hosts serve clients by TLS, with the files that their hosts have. */
import { withoutNats } from '@shardlab/nats/testing'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import t from 'tap'
import { pem, required } from '../tls/certificates.js'
import { driverOptions, isServed } from '../tls/clients.js'
import { HostProcesses } from './host-processes.js'

const machines = ['H1', 'H2']
const client = { ca: pem('ca'), own: pem('client') }

t.test('members on hosts serve clients by TLS', { skip: withoutNats, timeout: 120_000 }, async (t) => {
  await using hosts = await HostProcesses.start(machines)
  const nats = { url: hosts.server.url, machines }
  const start = (certificateKeyFile: string) =>
    ShardedCluster.start({ shards: 1, nats, auth: true, tls: { ...required, certificateKeyFile } })

  await t.rejects(start('server.pem'), {
    message: 'tls.certificateKeyFile is "server.pem"; each host of nats reads the file: give an absolute path.',
  })
  await t.rejects(start('/absent.pem'), {
    message: /^\w+ cannot start on the host H[12]: \/absent\.pem does not exist\.$/,
  })

  await using cluster = await start(required.certificateKeyFile)
  t.match(cluster.uri, /\?tls=true$/)
  await using driver = await MongoClient.connect(cluster.uri, driverOptions(client))
  const root = { createUser: 'root', pwd: 'secret', roles: ['root'] }
  t.match(await driver.db('admin').command(root), { ok: 1 }, 'the first user')
  const auth = { username: 'root', password: 'secret' }
  await using asRoot = await MongoClient.connect(cluster.uri, { ...driverOptions(client), auth })
  t.match(await asRoot.db('app').collection('a').insertOne({ n: 1 }), { acknowledged: true })
  t.match(await asRoot.db('admin').command({ rotateCertificates: 1 }), { ok: 1 })

  const named = { createUser: 'CN=client,OU=Clients,O=Shardlab', roles: [{ role: 'read', db: 'app' }] }
  t.match(await asRoot.db('$external').command(named), { ok: 1 })
  const byCertificate = { authMechanism: 'MONGODB-X509', authSource: '$external' } as const
  await using reader = await MongoClient.connect(cluster.uri, { ...driverOptions(client), ...byCertificate })
  t.match(await reader.db('app').collection('a').findOne(), { n: 1 })
  t.equal(await isServed(cluster, { ca: pem('ca') }), false, 'without a certificate')
  t.equal(await isServed(cluster, {}), false, 'without TLS')
})
