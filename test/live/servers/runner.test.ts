/** mongodb-runner starts `shardlab-mongod` and `shardlab-mongos` from their folder. */
import t from 'tap'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../support/up.js'
import { client, missing } from '../../release/support/project.js'
import { serversFolder } from './server-process.js'

const program = `
const { MongoCluster } = require('.')
const { MongoClient } = require('mongodb')
const [topology, binDir, tmpDir] = process.argv.slice(1)
async function main() {
  const cluster = await MongoCluster.start({ topology, binDir, tmpDir, secondaries: topology === 'sharded' ? 0 : 2, shards: 2 })
  const client = await MongoClient.connect(cluster.connectionString)
  const orders = client.db('shop').collection('orders')
  if (topology === 'sharded')
    await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
  await orders.insertMany(Array.from({ length: 20 }, (_, customer) => ({ customer })))
  const { setName, msg } = await client.db('admin').command({ hello: 1 })
  const found = await orders.countDocuments()
  await client.close()
  await cluster.close()
  console.log(JSON.stringify({ found, isSet: setName !== undefined, isRouter: msg === 'isdbgrid' }))
  process.exit()
}
main().catch((error) => { console.error(error); process.exit(1) })
`

for (const [topology, isSet, isRouter] of [
  ['standalone', false, false],
  ['replset', true, false],
  ['sharded', false, true],
] as const) {
  t.test(`mongodb-runner starts the topology ${topology}`, { timeout: 120_000 }, async (t) => {
    const folder = client('mongodb-runner')
    if (folder === null) return void t.pass('installed', { skip: missing('mongodb-runner') })
    const tmpDir = mkdtempSync(join(tmpdir(), 'shardlab-runner-'))
    t.teardown(() => rmSync(tmpDir, { recursive: true, force: true }))
    const args = ['-e', program, topology, serversFolder, tmpDir]
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: folder })
    t.equal(code, 0, stderr)
    t.same(JSON.parse(stdout), { found: 20, isSet, isRouter })
  })
}
