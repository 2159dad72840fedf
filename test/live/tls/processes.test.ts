/** TLS of processes: `shardlab up`, the commands that connect to it, and `shardlab-mongod`. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { mongoshOn } from '../../support/mongosh.js'
import { shardlab, up } from '../../support/up.js'
import { StartedServer } from '../servers/server-process.js'
import { pem } from './certificates.js'
import { driverOptions } from './clients.js'

const flags = ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', pem('server'), '--tlsCAFile', pem('ca')]
const trust = `&tlsCAFile=${encodeURIComponent(pem('ca'))}`
const certificate = `${trust}&tlsCertificateKeyFile=${encodeURIComponent(pem('client'))}`

t.test('up serves by TLS, and commands reach it by options of the URI', async (t) => {
  const running = await up('--port', '0', '--shards', '1', '--runtime', 'inline', ...flags)
  t.teardown(() => running.stop())
  const { ready } = running
  const uri = `${ready.uri}${certificate}`
  t.match(await shardlab('fault', '--uri', uri, '--list'), { code: 0, stderr: '' })
  t.match(await shardlab('fault', '--uri', `${ready.uri}${trust}`, '--list'), {
    code: 2,
    stderr: /^shardlab: no cluster answers at .*: start one, or correct the URI\.\n$/,
  })
  t.match(await shardlab('fault', '--uri', `${ready.uri}&tlsCAFile=/no/file`, '--list'), {
    code: 2,
    stderr: /no such file or directory, open '\/no\/file'/,
  })
  t.match(await shardlab('fault', '--uri', `${ready.uri}&tlsInsecure=true`, '--list'), { code: 2 })
  const evaluate = mongoshOn(uri)
  if (evaluate !== null)
    t.match(await evaluate('db.adminCommand({ serverStatus: 1 }).security.SSLServerHasCertificateAuthority'), {
      stdout: /true/,
      stderr: '',
    })
})

t.test('up refuses files that are wrong', async (t) => {
  const wrong = await shardlab('up', '--port', '0', '--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', '/no/file')
  t.match(wrong, { code: 2, stderr: 'shardlab: TLS cannot be used: /no/file does not exist.\n' })
  t.match(await shardlab('up', '--port', '0', '--tlsCAFile', pem('ca')), {
    code: 2,
    stderr: 'shardlab: tls needs mode: allowTLS, preferTLS, requireTLS.\n',
  })
})

t.test('shardlab-mongod takes the options of a server, in new and old names', async (t) => {
  const start = async (...args: string[]): Promise<StartedServer> => {
    const dbpath = await mkdtemp(join(tmpdir(), 'shardlab-tls-'))
    const server = new StartedServer('mongod', ['--port', '0', '--dbpath', dbpath, ...args])
    t.teardown(() => server.kill())
    return server
  }
  const old = ['--sslMode', 'requireSSL', '--sslPEMKeyFile', pem('server'), '--sslCAFile', pem('ca')]
  for (const args of [flags, old]) {
    const server = await start(...args)
    const port = await server.port()
    t.match((await server.line(23016)).attr, { ssl: 'on' })
    const options = driverOptions({ ca: pem('ca'), own: pem('client') })
    const client = await MongoClient.connect(`mongodb://127.0.0.1:${port}/`, options)
    t.match(await client.db('admin').command({ ping: 1 }), { ok: 1 })
    await client.close()
  }
  const key = ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile']
  const expired = await start(...key, pem('server-expired'), '--tlsCAFile', pem('ca'))
  t.same(await expired.ended(), { code: 1, signal: null })
  t.match(
    expired.stderr,
    /^Error during global initialization: InvalidSSLConfiguration: TLS cannot be used: .* expired/,
  )
  const withoutAuthority = await start(...key, pem('server'))
  t.same(await withoutAuthority.ended(), { code: 1, signal: null })
  t.match(withoutAuthority.stderr, /The use of TLS without specifying a chain of trust is no longer supported/)
})
