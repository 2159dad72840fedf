/** mongosh's own smoke tests, which start many shells in sequence. Long runs play them. */
import t from 'tap'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { clients, smokeTests } from '../clients/clients.js'
import { up } from '../support/up.js'

const client = clients.find(({ name }) => name === smokeTests)!
const reason = process.env['SHARDLAB_LONG'] === '1' ? await client.missing() : 'takes half a minute: SHARDLAB_LONG=1'
const skip = reason === null ? {} : { skip: reason }

t.test(smokeTests, { timeout: 600_000, ...skip }, async (t) => {
  const running = await up('--port', '0', '--mongos', '2')
  t.teardown(() => running.stop())
  const workFolder = join(t.testdir(), 'work')
  mkdirSync(workFolder)
  const { code, stdout, stderr } = await client.run({ uri: running.ready.uri, database: 'smoke', workFolder })
  t.equal(code, 0, stderr || stdout.slice(-2000))
})
