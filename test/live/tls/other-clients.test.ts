/** Clients that log in by TLS with a certificate; with SHARDLAB_LONG=1 of all languages. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { clients } from '../../clients/clients.js'
import { mongoshOn } from '../../support/mongosh.js'
import { up } from '../../support/up.js'
import { withRoot } from '../../support/with-root.js'
import { pem } from './certificates.js'
import { driverOptions } from './clients.js'

const flags = ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', pem('server'), '--tlsCAFile', pem('ca')]
const trust = `&tlsCAFile=${encodeURIComponent(pem('ca'))}`
const certificate = `${trust}&tlsCertificateKeyFile=${encodeURIComponent(pem('client'))}`
const isLong = process.env['SHARDLAB_LONG'] === '1'

/** They read files of certificates from options of the URI. */
const names = isLong
  ? ['Node.js driver 4.17', 'Node.js driver 5.9', 'Node.js driver 6.22', 'PyMongo, logins', 'libmongoc', 'PHP', 'Go']
  : ['PHP']

t.test('clients log in by TLS', { timeout: 300_000 }, async (t) => {
  const running = await up('--port', '0', '--mongos', '2', '--auth', ...flags)
  t.teardown(() => running.stop())
  const root = await withRoot(running.ready.uri, driverOptions({ ca: pem('ca'), own: pem('client') }))
  for (const [i, client] of clients.filter(({ name }) => names.includes(name)).entries())
    await t.test(client.name, async (t) => {
      const missing = await client.missing()
      if (missing !== null) return void t.pass(missing, { skip: missing })
      const workFolder = join(t.testdir(), 'work')
      mkdirSync(workFolder)
      const outcome = await client.run({ uri: `${root}${certificate}`, database: `tls${i}`, workFolder })
      t.match(outcome, { code: 0, stdout: /fine\s*$/ })
    })
  await t.test('mongosh', async (t) => {
    const evaluate = mongoshOn(`${root}${certificate}`)
    if (evaluate === null)
      return void t.pass('mongosh is missing', { skip: 'mongosh is not installed in test/clients' })
    t.match(await evaluate('print(db.runCommand({ connectionStatus: 1 }).authInfo.authenticatedUsers[0].user)'), {
      code: 0,
      stdout: /root/,
    })
    const timeout = '&serverSelectionTimeoutMS=500'
    const wrongs = [
      [`${root}${trust}${timeout}`, /MongoServerSelectionError/],
      [`${root.replace('secret', 'wrong')}${certificate}`, /Authentication failed/],
      [`${root}${certificate.replace('ca.pem', 'client.pem')}${timeout}`, /certificate/],
      [`${root.replace('tls=true', 'tls=false')}${timeout}`, /ServerSelection/],
    ] as const
    for (const [wrong, text] of isLong ? wrongs : wrongs.slice(0, 1)) {
      const refused = await mongoshOn(wrong)!('1')
      t.not(refused.code, 0)
      t.match(refused.stderr, text)
    }
  })
})
