/** Arbiters, delayed and hidden members, and members that join and leave. */
import type { Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { SetUnderTest, type SetUnderTestOptions } from './simulated-set.js'

async function start(t: Test, options: Omit<SetUnderTestOptions, 'seed'>): Promise<SetUnderTest> {
  const set = await SetUnderTest.start({ seed: 1, ...options })
  t.teardown(() => set.stop())
  return set
}

const insert = (_id: number, writeConcern: Document = { w: 1 }): Document => ({
  ...{ insert: 'rows', documents: [{ _id }], writeConcern },
})

async function ids(set: SetUnderTest, member: string): Promise<unknown> {
  const find = { find: 'rows', sort: { _id: 1 }, $readPreference: { mode: 'secondaryPreferred' } }
  const { cursor } = (await set.command(member, find)) as { cursor?: { firstBatch: { _id: number }[] } }
  return cursor?.firstBatch.map(({ _id }) => _id)
}

t.test('a delayed member applies a write when it is as old as the delay, and not before', async (t) => {
  const set = await start(t, { config: [{}, {}, { priority: 0, secondaryDelaySecs: 30 }] })
  t.match(await set.command('rs-1', insert(1, { w: 2 })), { ok: 1 })
  await set.runtime.advance(25_000)
  t.strictSame(await ids(set, 'rs-3'), [])
  t.match(await set.command('rs-1', insert(2, { w: 2 })), { ok: 1 })
  await set.runtime.advance(7_000)
  t.strictSame(await ids(set, 'rs-3'), [1])
  t.match(await set.command('rs-1', { ...insert(3), writeConcern: { w: 3, wtimeout: 1000 } }), {
    writeConcernError: { code: 64 },
  })
  const { hosts, passives } = await set.admin('rs-1', { hello: 1 })
  t.strictSame([(hosts as string[]).length, passives], [2, undefined])
  t.match(await set.admin('rs-3', { hello: 1 }), { passive: true, secondaryDelaySecs: 30 })
  await set.runtime.advance(31_000)
  t.strictSame(await ids(set, 'rs-3'), [1, 2, 3])
})

t.test('an arbiter has no data and votes', async (t) => {
  const set = await start(t, { config: [{}, {}, { arbiterOnly: true, priority: 0 }] })
  t.match(await set.command('rs-1', insert(1, { w: 2 })), { ok: 1 })
  t.match(await set.command('rs-1', { ...insert(2), writeConcern: { w: 3, wtimeout: 10 } }), {
    writeConcernError: { code: 100, codeName: 'UnsatisfiableWriteConcern' },
  })
  t.match(await set.command('rs-3', { find: 'rows', $readPreference: { mode: 'nearest' } }), { code: 13_436 })
  t.match(await set.command('rs-3', insert(3)), { code: 10_107 })
  t.match(await set.admin('rs-3', { hello: 1 }), { arbiterOnly: true, secondary: false, isWritablePrimary: false })
  await set.runtime.crash('rs-1')
  await set.runtime.advance(20_000)
  t.equal(await set.primary(), 'rs-2')
  const { members } = await set.admin('rs-2', { replSetGetStatus: 1 })
  t.strictSame(
    (members as { stateStr: string }[]).map(({ stateStr }) => stateStr),
    ['(not reachable/healthy)', 'PRIMARY', 'ARBITER'],
  )
  t.match(await set.runtime.describe('rs-3'), { collections: [], state: 'ARBITER' })
})

t.test('a hidden member is in no list of hello and has the data', async (t) => {
  const set = await start(t, { config: [{}, {}, { priority: 0, hidden: true }] })
  t.match(await set.command('rs-1', insert(1, { w: 3 })), { ok: 1 })
  t.strictSame(await ids(set, 'rs-3'), [1])
  const { hosts, passives } = await set.admin('rs-2', { hello: 1 })
  t.strictSame([(hosts as string[]).length, passives], [2, undefined])
  t.match(await set.admin('rs-3', { hello: 1 }), { hidden: true, passive: true, secondary: true })
})
