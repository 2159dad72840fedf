/** Members that are behind: delays, small oplogs, and what the events say. */
import type { Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { SetUnderTest, type SetUnderTestOptions } from './simulated-set.js'

async function start(t: Test, options: Partial<SetUnderTestOptions> = {}): Promise<SetUnderTest> {
  const set = await SetUnderTest.start({ seed: 1, ...options })
  t.teardown(() => set.stop())
  return set
}

const insert = (_id: number, writeConcern: Document): Document => ({
  insert: 'rows',
  documents: [{ _id, text: 'x'.repeat(500) }],
  writeConcern,
})

async function idsOn(set: SetUnderTest, member: string): Promise<number[]> {
  const find = { find: 'rows', sort: { _id: 1 }, $readPreference: { mode: 'secondaryPreferred' } }
  return ((await set.command(member, find))['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id)
}

const stateOf = async (set: SetUnderTest, member: string) => (await set.runtime.describe(member))['state']

t.test('a delayed member applies entries later, and shows its lag', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, { w: 3 }))
  const turn = (value: number | null) =>
    set.runtime.request('rs-3', 'faults.switch', { name: 'delayed-replication', value })
  await turn(5000)
  await set.command('rs-1', insert(2, { w: 2 }))
  await set.runtime.advance(3000)
  await set.command('rs-1', insert(3, { w: 2 }))
  t.strictSame(await idsOn(set, 'rs-3'), [1])
  const { members } = await set.admin('rs-1', { replSetGetStatus: 1 })
  t.ok(members[0].optimeDate - members[2].optimeDate >= 3000, 'as rs.printSecondaryReplicationInfo() computes it')
  t.match(await set.command('rs-1', insert(4, { w: 3, wtimeout: 500 })), { writeConcernError: { code: 64 } })
  await set.runtime.advance(2000)
  t.strictSame(await idsOn(set, 'rs-3'), [1, 2])
  await turn(null)
  await set.runtime.advance(200)
  t.strictSame(await idsOn(set, 'rs-3'), [1, 2, 3, 4])
})

t.test('a delayed member that becomes primary does not wait', async (t) => {
  const set = await start(t)
  await set.runtime.request('rs-2', 'faults.switch', { name: 'delayed-replication', value: 60_000 })
  await set.command('rs-1', insert(1, { w: 2 }))
  await set.runtime.crash('rs-1')
  await set.runtime.advance(10_000)
  t.equal(await set.primary(), 'rs-3', 'the other member has more')
  await set.admin('rs-2', { replSetStepUp: 1 })
  await set.runtime.advance(10_000)
  t.strictSame(await idsOn(set, await set.primary()), [1])
})

t.test('a member with a configured delay waits, too', async (t) => {
  const set = await start(t, { config: [{}, {}, { priority: 0, hidden: true, secondaryDelaySecs: 30 }] })
  await set.command('rs-1', insert(1, { w: 2 }))
  await set.runtime.advance(20_000)
  t.strictSame(await idsOn(set, 'rs-3'), [])
  await set.runtime.advance(15_000)
  t.strictSame(await idsOn(set, 'rs-3'), [1])
  t.strictSame(set.eventsOf('replication-lag'), [], 'its delay is no lag')
})

t.test('a member that falls behind is reported once, and again when it has caught up', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, { w: 3 }))
  await set.runtime.crash('rs-3')
  for (let i = 2; i < 8; i++) {
    await set.command('rs-1', insert(i, { w: 2 }))
    await set.runtime.advance(3000)
  }
  t.match(set.eventsOf('replication-lag'), [
    { member: 'rs-3', set: 'rs', primary: 'rs-1', state: 'behind', commitLagMs: 0 },
  ])
  await set.runtime.restart('rs-3')
  await set.settle()
  const [behind, caughtUp, ...more] = set.eventsOf('replication-lag')
  t.ok(behind!.lagMs > 10_000)
  t.match(caughtUp, { member: 'rs-3', state: 'caught-up' })
  t.ok(caughtUp!.lagMs < 10_000)
  t.strictSame(more, [])
  t.match(set.eventsOf('step-down'), [])
})

t.test('a primary that cannot reach a majority steps down, with its commit lag reported before', async (t) => {
  const set = await start(t, { settings: { electionTimeoutMillis: 30_000 } })
  await set.command('rs-1', insert(1, { w: 3 }))
  const heal = await set.isolate('rs-1')
  await set.runtime.advance(12_000)
  await set.command('rs-1', insert(2, { w: 1 }))
  await set.runtime.advance(14_000)
  const [lag] = set.eventsOf('replication-lag')
  t.match(lag, { primary: 'rs-1', state: 'behind' })
  t.ok(lag!.commitLagMs > 10_000)
  await set.runtime.advance(30_000)
  const { term } = (await set.runtime.describe('rs-1')) as { term: number }
  t.match(set.eventsOf('step-down'), [{ member: 'rs-1', set: 'rs', reason: 'lost-majority', term }])
  await heal()
})

t.test('a step-down by command is reported with its reason', async (t) => {
  const set = await start(t)
  await set.admin('rs-1', { replSetStepDown: 10 })
  t.match(set.eventsOf('step-down'), [{ member: 'rs-1', set: 'rs', reason: 'command' }])
})

t.test('with a small oplog a member becomes too stale, and an empty disk lets it sync again', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(0, { w: 3 }))
  await set.runtime.crash('rs-3')
  for (const member of ['rs-1', 'rs-2'])
    await set.runtime.request(member, 'faults.switch', { name: 'small-oplog', value: 4000 })
  for (let i = 1; i < 30; i++) await set.command('rs-1', insert(i, { w: 2 }))
  const oplog = { find: 'oplog.rs', batchSize: 1000, $db: 'local' }
  t.ok((await set.command('rs-1', oplog))['cursor'].firstBatch.length < 12, 'it has the newest entries only')
  await set.runtime.restart('rs-3')
  await set.runtime.advance(10_000)
  t.equal(await stateOf(set, 'rs-3'), 'RECOVERING')
  t.match(await set.admin('rs-3', { replSetGetStatus: 1 }), { myState: 3, tooStale: true })
  t.match(await set.command('rs-3', { find: 'rows', $readPreference: { mode: 'secondary' } }), { code: 13436 })
  for (const member of ['rs-1', 'rs-2'])
    await set.runtime.request(member, 'faults.switch', { name: 'small-oplog', value: null })
  await set.runtime.advance(10_000)
  t.equal(await stateOf(set, 'rs-3'), 'RECOVERING', 'dropped entries do not return')
  await set.runtime.crash('rs-3')
  await set.runtime.replaceDisk('rs-3')
  await set.runtime.restart('rs-3')
  await set.settle()
  t.equal(await stateOf(set, 'rs-3'), 'SECONDARY')
  t.equal((await idsOn(set, 'rs-3')).length, 30)
})

t.test('a causal read on a member whose clock stands still ends with its maxTimeMS, not with older data', async (t) => {
  const set = await start(t)
  await set.runtime.request('rs-2', 'faults.switch', { name: 'delayed-replication', value: 3_600_000 })
  const skew = { scope: 'member', address: 'rs-2', effect: { type: 'clock-skew', skewMs: 600_000 } } as const
  const id = await set.runtime.faults.apply(skew)
  await set.runtime.advance(1000)
  await set.runtime.faults.heal(id)
  const { operationTime, $clusterTime } = await set.command('rs-1', insert(1, { w: 1 }))
  for (const level of ['local', 'majority', 'snapshot']) {
    const read = {
      find: 'rows',
      readConcern: { level, afterClusterTime: operationTime },
      maxTimeMS: 150,
      $readPreference: { mode: 'secondary' },
      $clusterTime,
    }
    t.match(await set.command('rs-2', read), { ok: 0, code: 50 }, level)
  }
})
