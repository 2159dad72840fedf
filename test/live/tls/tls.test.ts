/** Clients of members with TLS: which of them a member accepts. */
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectByTls, type TLSSocket } from 'node:tls'
import { ShardedCluster, type ClusterOptions, type TlsSettings } from '@shardlab/cluster'
import { MongoClient } from 'mongodb'
import t, { type Test } from 'tap'
import { pem, required } from './certificates.js'
import { closed, driverOptions, isServed, type ClientFiles } from './clients.js'

const trusting: ClientFiles = { ca: pem('ca') }
const certified = (name: string): ClientFiles => ({ ...trusting, own: pem(name) })
const noTls: ClientFiles = {}

async function start(t: Test, tls: TlsSettings, options: ClusterOptions = {}): Promise<ShardedCluster> {
  const cluster = await ShardedCluster.start({ runtime: 'inline', topology: 'standalone', tls, ...options })
  t.teardown(() => cluster.stop())
  return cluster
}

async function statusOf({ uri }: ShardedCluster, files: ClientFiles) {
  const client = await MongoClient.connect(uri, driverOptions(files))
  const status = await client.db('admin').command({ serverStatus: 1 })
  await client.close()
  return status
}

t.test('requireTLS with an authority serves clients with a valid certificate only', async (t) => {
  const cluster = await start(t, { ...required, CRLFile: pem('crl') })
  t.match(cluster.uri, /\?tls=true$/)
  const client = await MongoClient.connect(cluster.uri, driverOptions(certified('client')))
  t.teardown(() => client.close())
  const documents = Array.from({ length: 2000 }, (_, _id) => ({ _id: _id as never, text: 'x'.repeat(1000) }))
  await client.db('app').collection('a').insertMany(documents)
  t.equal((await client.db('app').collection('a').find().toArray()).length, 2000)
  const { security, transportSecurity } = await client.db('admin').command({ serverStatus: 1 })
  t.match(security, {
    SSLServerSubjectName: String.raw`CN=localhost,OU=Tests,O=Shardlab\, Inc.,C=US`,
    SSLServerHasCertificateAuthority: true,
    SSLServerCertificateExpirationDate: Date,
  })
  t.match(transportSecurity, { '1.2': 0, '1.3': Number })
  t.ok(Number(transportSecurity['1.3']) > 0)
  t.equal(await isServed(cluster, trusting), false, 'without a certificate')
  for (const name of ['client-expired', 'client-other', 'client-revoked'])
    t.equal(await isServed(cluster, certified(name)), false, name)
  t.equal(await isServed(cluster, noTls), false, 'without TLS')
  t.equal(await isServed(cluster, certified('client')), true, 'the refused ones change nothing')
})

t.test('clients without a certificate, or with an invalid one, are served where an option says so', async (t) => {
  const lenient = await start(t, { ...required, allowConnectionsWithoutCertificates: true })
  t.equal(await isServed(lenient, trusting), true)
  t.equal(await isServed(lenient, certified('client-expired')), false, 'one that is sent must be valid')
  const trustful = await start(t, { ...required, allowInvalidCertificates: true })
  t.equal(await isServed(trustful, certified('client-other')), true)
  t.equal(await isServed(trustful, trusting), false)
  const { CAFile: _, ...withoutAuthority } = required
  const unchecked = await start(t, withoutAuthority)
  t.equal(await isServed(unchecked, certified('client-other')), true, 'without an authority none is read')
  t.equal(await isServed(unchecked, trusting), true)
})

t.test('allowTLS and preferTLS serve clients with and without TLS on one port', async (t) => {
  for (const mode of ['allowTLS', 'preferTLS'] as const) {
    const cluster = await start(t, { ...required, mode, allowConnectionsWithoutCertificates: true })
    t.notMatch(cluster.uri, /tls/)
    t.equal(await isServed(cluster, noTls), true, `${mode} without TLS`)
    t.equal(await isServed(cluster, trusting), true, `${mode} with TLS`)
    // Its first byte is that of a handshake.
    t.equal(await isServed(cluster, noTls, 0x116), true, `${mode} without TLS, a message of 278 bytes`)
  }
})

t.test('a version of TLS can be disabled', async (t) => {
  const cluster = await start(t, { ...required, disabledProtocols: ['TLS1_3'] })
  t.match((await statusOf(cluster, certified('client')))['transportSecurity'], { '1.3': 0 })
  const other = await start(t, { ...required, disabledProtocols: ['TLS1_2'] })
  const { hostname, port } = new URL(other.uri)
  const socket = connectByTls({ host: hostname, port: Number(port), maxVersion: 'TLSv1.2', rejectUnauthorized: false })
  t.equal(await closed(socket), 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
})

t.test('rotateCertificates reads the files again, and keeps the earlier ones when they are wrong', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'shardlab-tls-'))
  const certificateKeyFile = join(folder, 'server.pem')
  await copyFile(pem('server'), certificateKeyFile)
  const cluster = await start(t, { ...required, certificateKeyFile })
  const client = await MongoClient.connect(cluster.uri, driverOptions(certified('client')))
  t.teardown(() => client.close())
  const subject = async () => (await statusOf(cluster, certified('client')))['security'].SSLServerSubjectName
  await copyFile(pem('server-2'), certificateKeyFile)
  t.match(await subject(), /^CN=localhost/)
  t.match(await client.db('admin').command({ rotateCertificates: 1 }), { ok: 1 })
  t.match(await subject(), /^CN=rotated/)
  await writeFile(certificateKeyFile, 'nothing')
  await t.rejects(client.db('admin').command({ rotateCertificates: 1 }), {
    code: 140,
    codeName: 'InvalidSSLConfiguration',
    message: `${certificateKeyFile} has no certificate in PEM format`,
  })
  t.match(await subject(), /^CN=rotated/)
})

t.test('members of a cluster on worker threads, and a cluster that is copied, speak TLS', async (t) => {
  const lenient = { ...required, allowConnectionsWithoutCertificates: true }
  const cluster = await start(t, lenient, { runtime: 'threads', topology: 'sharded', shards: 2, hosts: 1 })
  const client = await MongoClient.connect(cluster.uri, driverOptions(trusting))
  await client.db('app').collection('a').insertOne({ x: 1 })
  await client.close()
  t.match(cluster.shards[0]!.uri, /directConnection=true&tls=true$/)
  t.equal(await isServed(cluster.shards[0]!, trusting), true, 'a shard')
  await cluster.crash('shard01')
  await cluster.restart('shard01')
  t.equal(await isServed(cluster.shards[0]!, trusting), true, 'after a restart')

  const encrypted = { certificateKeyFile: pem('server-encrypted'), certificateKeyFilePassword: 'secret' }
  const original = await start(t, { ...lenient, ...encrypted })
  const fork = await original.fork()
  t.teardown(() => fork.stop())
  t.equal(await isServed(fork, trusting), true, 'a fork')
  const ofOriginal = await MongoClient.connect(original.uri, driverOptions(trusting))
  t.teardown(() => ofOriginal.close())
  const { uri } = await ofOriginal.db('admin').command({ shardlab: 'fork' })
  t.equal(await isServed({ uri: String(uri) }, trusting), true, 'a fork by a command')
  const file = join(await mkdtemp(join(tmpdir(), 'shardlab-tls-')), 'snapshot')
  await (await original.snapshot()).save(file)
  const restored = await ShardedCluster.start({ from: file })
  t.teardown(() => restored.stop())
  t.notMatch(restored.uri, /tls/, 'a snapshot has no settings of TLS')
  t.equal(await isServed(restored, noTls), true)
})

t.test('a crash resets connections by TLS, and garbage closes only its own', async (t) => {
  const cluster = await start(t, { ...required, allowConnectionsWithoutCertificates: true })
  const { hostname: host, port } = new URL(cluster.uri)
  const target = { host, port: Number(port) }
  const open = (): Promise<TLSSocket> =>
    new Promise((resolve) => {
      const socket = connectByTls({ ...target, rejectUnauthorized: false }, () => resolve(socket))
    })
  const silent = connect(target)
  const garbage = connect(target)
  garbage.write(Buffer.from([0x16, 3, 1, 255, 255, 0, 1, 2, 3]))
  t.match(await closed(garbage), /closed|ECONNRESET/)
  const inside = await open()
  const insideClosed = closed(inside)
  inside.write('no message of the wire protocol, but long enough for a header')
  t.match(await insideClosed, /closed|ECONNRESET/)
  t.equal(await isServed(cluster, trusting), true)
  const waiting = closed(await open())
  const silentClosed = closed(silent)
  await cluster.crash('mongod')
  t.match(await waiting, /closed|ECONNRESET/)
  t.match(await silentClosed, /closed|ECONNRESET/)
})

t.test('wrong options and files are refused in one sentence', async (t) => {
  const wrong: [tls: object, message: string][] = [
    [{ ...required, mode: 'on' }, 'tls.mode is "on"; use allowTLS, preferTLS, requireTLS.'],
    [{ certificateKeyFile: 'a' }, 'tls needs mode: allowTLS, preferTLS, requireTLS.'],
    [{ mode: 'requireTLS' }, 'tls needs certificateKeyFile, a PEM file with the certificate and its private key.'],
    [{ ...required, certificateKeyFile: 7 }, 'tls.certificateKeyFile is 7; it must be a text.'],
    [{ ...required, CAfile: 'a' }, 'tls has no option CAfile; did you mean CAFile?'],
    [{ mode: 'requireTLS', certificateKeyFile: 'a', CRLFile: 'b' }, 'tls.CRLFile needs tls.CAFile; add it.'],
    [
      { ...required, disabledProtocols: ['TLS9'] },
      'tls.disabledProtocols has "TLS9"; use TLS1_0, TLS1_1, TLS1_2, TLS1_3.',
    ],
    [
      { ...required, disabledProtocols: ['TLS1_2', 'TLS1_3'] },
      'TLS cannot be used: all versions of TLS that Node.js supports are disabled.',
    ],
    [{ ...required, certificateKeyFile: '/no/file' }, 'TLS cannot be used: /no/file does not exist.'],
    [
      { ...required, certificateKeyFile: pem('server-expired') },
      `TLS cannot be used: the certificate in ${pem('server-expired')} is expired or not yet valid.`,
    ],
    [
      { ...required, certificateKeyFile: pem('server-encrypted') },
      'TLS cannot be used: the private key is encrypted, and there is no password for it.',
    ],
    [
      { ...required, certificateKeyFile: pem('server-encrypted'), certificateKeyFilePassword: 'wrong' },
      'TLS cannot be used: the password of the private key is wrong.',
    ],
    [{ ...required, CAFile: pem('crl') }, `TLS cannot be used: ${pem('crl')} has no certificate in PEM format.`],
  ]
  for (const [tls, message] of wrong)
    await t.rejects(ShardedCluster.start({ runtime: 'inline', tls: tls as TlsSettings }), {
      name: 'OptionError',
      message,
    })
  await t.rejects(ShardedCluster.start({ runtime: 'inline', tls: { ...required, certificateKeyFile: pem('ca') } }), {
    message: /^TLS cannot be used: .*ca\.pem has no private key that belongs to its certificate/,
  })
  await t.rejects(ShardedCluster.start({ runtime: 'inline', tls: { ...required, CRLFile: pem('ca') } }), {
    message: /^TLS cannot be used: .*ca\.pem is no list of revoked certificates/,
  })
})
