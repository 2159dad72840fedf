/** What shards measure of migrations, in shardingStatistics of serverStatus. */
import { Binary, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { admin, ask, start } from './two-shard-cluster.js'

const move = { moveChunk: 'app.things', find: { x: 1 }, to: 'shard01' }

async function measured(cluster: Awaited<ReturnType<typeof start>>, shard: string): Promise<Record<string, number>> {
  const { shardingStatistics } = await ask(cluster, { serverStatus: 1, $db: 'admin' }, shard)
  return Object.fromEntries(
    Object.entries(shardingStatistics as Document)
      .filter(([, value]) => typeof value !== 'object' || value instanceof Long)
      .map(([name, value]) => [name, Number(value)]),
  )
}

for (const emulate of ['5.0', '8.0'] as const)
  t.test(`${emulate}: the critical sections of donor and recipient, and the commit, are measured`, async (t) => {
    const cluster = await start(t, { emulate })
    const before = { donor: await measured(cluster, 'shard02'), recipient: await measured(cluster, 'shard01') }
    const moving = (async () => {
      for (const [step, ms] of [
        ['shard.migration.writes-blocked', 300],
        ['shard.migration.recipient-committed', 200],
        ['shard.migration.committing', 100],
      ] as const) {
        const hold = await cluster.steps.arm(step, 'hold', { times: 1 })
        await cluster.steps.struck(hold)
        await cluster.advance(ms)
        await cluster.steps.heal(hold)
      }
    })()
    t.match(await admin(cluster, move), { ok: 1 })
    await moving
    await cluster.advance(100)
    const after = { donor: await measured(cluster, 'shard02'), recipient: await measured(cluster, 'shard01') }
    const within = (member: 'donor' | 'recipient', name: string, from: number) => {
      const ms = after[member][name]! - before[member][name]!
      t.ok(ms >= from && ms < from + (from === 0 ? 1 : 90), `${member} ${name}: ${ms} ms for ${from}`)
    }
    within('donor', 'totalCriticalSectionTimeMillis', 600)
    within('donor', 'totalCriticalSectionCommitTimeMillis', 100)
    within('donor', 'totalRecipientCriticalSectionTimeMillis', 0)
    within('recipient', 'totalRecipientCriticalSectionTimeMillis', 300)
    within('recipient', 'totalCriticalSectionTimeMillis', 0)
  })

t.test('a migration that waits too long for a transaction is counted', async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  const lsid = { id: new Binary(Buffer.alloc(16, 1), 4) }
  const inTransaction = { lsid, txnNumber: Long.fromNumber(1), autocommit: false, startTransaction: true }
  t.match(
    await ask(cluster, { update: 'things', updates: [{ q: { x: 1 }, u: { $set: { n: 1 } } }], ...inTransaction }),
    {
      n: 1,
    },
  )
  const before = await measured(cluster, 'shard02')
  t.match(await admin(cluster, move), { ok: 0, code: 24 })
  const after = await measured(cluster, 'shard02')
  const grown = (name: string) => after[name]! - before[name]!
  t.equal(grown('countDonorMoveChunkLockTimeout'), 1)
  t.equal(grown('countDonorMoveChunkAborted'), 1)
  t.equal(grown('totalCriticalSectionCommitTimeMillis'), 0, 'the config server was not asked')
  t.ok(grown('totalCriticalSectionTimeMillis') >= 500)
})
