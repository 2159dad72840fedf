/** mongosh's own smoke tests, which start many shells in sequence. */
import t from 'tap'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { clients, smokeTests } from '../clients/clients.js'
import { up } from '../support/up.js'

const client = clients.find(({ name }) => name === smokeTests)!
const missing = await client.missing()

t.test(smokeTests, { timeout: 600_000, ...(missing === null ? {} : { skip: missing }) }, async (t) => {
  const running = await up('--port', '0', '--mongos', '2')
  t.teardown(() => running.stop())
  const workFolder = join(t.testdir(), 'work')
  mkdirSync(workFolder)
  const { code, stdout, stderr } = await client.run({ uri: running.ready.uri, database: 'smoke', workFolder })
  t.equal(code, 0, stderr || stdout.slice(-2000))
})
