/**
 * Every client of test/clients logs in and runs its script, with SHARDLAB_LONG=1 also without
 * users, and mongosh runs interactive input.
 * `npm run clients` installs them; a test of a missing client is skipped by name.
 */
import t, { type Test } from 'tap'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { clients, smokeTests } from '../clients/clients.js'
import { mongoshOn } from '../support/mongosh.js'
import { up, type RunningUp } from '../support/up.js'
import { withRoot } from '../support/with-root.js'

/** These take up to a minute, for a compiler. */
const slow = new Set(['Go'])

function skipped(t: Test, why: string): void {
  t.pass(`skipped: ${why}`, { skip: why })
}

const isLong = process.env['SHARDLAB_LONG'] === '1'

for (const [what, flags] of [['with a user', ['--auth']] as const, ...(isLong ? [['without users', []] as const] : [])])
  t.test(`every installed client passes its script, ${what}`, { timeout: 600_000 }, (t) => pass(t, flags))

async function pass(t: Test, flags: readonly string[]): Promise<void> {
  let running: RunningUp | undefined
  let uri = ''
  t.teardown(() => running?.stop())
  for (const [i, client] of clients.entries()) {
    if (client.name === smokeTests) continue
    await t.test(client.name, async (t) => {
      if (slow.has(client.name) && !isLong) return skipped(t, 'takes long: SHARDLAB_LONG=1 runs it')
      const missing = await client.missing()
      if (missing !== null) return skipped(t, missing)
      if (running === undefined) {
        running = await up('--port', '0', '--mongos', '2', ...flags)
        uri = flags.length > 0 ? await withRoot(running.ready.uri) : running.ready.uri
      }
      if (client.needsUser === true && !uri.includes('@')) return skipped(t, 'needs a user')
      const workFolder = join(t.testdir(), 'work')
      mkdirSync(workFolder)
      const { code, stdout, stderr } = await client.run({ uri, database: `clients${i}`, workFolder })
      t.equal(code, 0, stderr)
      t.match(stdout.trim(), /fine$/)
    })
  }
}

t.test('mongosh runs interactive input', async (t) => {
  const running = await up('--port', '0', '--shards', '3')
  t.teardown(() => running.stop())
  const evaluate = mongoshOn(running.ready.uri)
  if (evaluate === null) return skipped(t, 'mongosh is not installed in test/clients')

  const status = await evaluate('sh.status()')
  t.equal(status.code, 0, status.stderr)
  for (const shard of ['shard01', 'shard02', 'shard03']) t.match(status.stdout, shard)

  const session = await evaluate(`
    sh.enableSharding("shop")
    sh.shardCollection("shop.orders", { customer: "hashed" })
    db.getSiblingDB("shop").orders.insertMany(Array.from({ length: 100 }, (_, i) => ({ customer: i })))
    print(JSON.stringify({
      count: db.getSiblingDB("shop").orders.countDocuments(),
      chunks: db.getSiblingDB("config").chunks.countDocuments(),
      balancer: sh.getBalancerState(),
      shards: sh.listShards ? sh.listShards().length : 3,
      databases: db.adminCommand({ listDatabases: 1 }).databases.map(each => each.name).sort(),
    }))`)
  t.equal(session.code, 0, session.stderr)
  t.same(JSON.parse(session.stdout.trim().split('\n').at(-1)!), {
    count: 100,
    chunks: 6,
    balancer: true,
    shards: 3,
    databases: ['admin', 'config', 'shop'],
  })
  const after = await evaluate('sh.status()')
  t.match(after.stdout, 'shop.orders')
  t.match(after.stdout, /customer: 'hashed'/)
})
