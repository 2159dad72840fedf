/** What clients of a replica set meet: failover, write concerns, split brain, commands. */
import { UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { fromSecondary, idsOn, insert, majority, start } from './rows-of-set.js'

t.test('a new set elects its first member and copies its writes', async (t) => {
  const set = await start(t)
  t.equal(await set.primary(), 'rs-1')
  t.match(await set.command('rs-1', insert(1, { w: 3 })), { ok: 1, n: 1 })
  for (const member of ['rs-2', 'rs-3']) t.strictSame(await idsOn(set, member, fromSecondary), [1])
})

t.test('when a primary crashes another member is elected, and it has what a majority acknowledged', async (t) => {
  const set = await start(t)
  t.match(await set.command('rs-1', insert(1, majority)), { ok: 1 })
  await set.runtime.crash('rs-1')
  const next = await set.primary()
  t.not(next, 'rs-1')
  t.strictSame(await idsOn(set, next), [1])
  t.match(await set.command(next, insert(2, majority)), { ok: 1, n: 1 })
  await set.runtime.restart('rs-1')
  await set.settle()
  t.strictSame(await idsOn(set, 'rs-1'), [1, 2])
})

t.test('an isolated primary accepts writes of w: 1, which exactly are rolled back after healing', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, majority))
  const heal = await set.isolate('rs-1')
  t.match(await set.command('rs-1', insert(2, { w: 1 })), { ok: 1, n: 1 })
  const late = await set.command('rs-1', insert(3, { w: 'majority', wtimeout: 500 }))
  t.match(late, { ok: 1, n: 1, writeConcernError: { code: 64, errInfo: { wtimeout: true } } })
  t.equal(late['writeConcernError'].errmsg, 'waiting for replication timed out')
  t.strictSame(await idsOn(set, 'rs-1', { readConcern: { level: 'majority' } }), [1], 'majority reads do not show them')
  await set.runtime.advance(5000)
  const next = await set.primary()
  await set.command(next, insert(4, majority))
  await heal()
  await set.settle()
  for (const member of set.names) t.strictSame(await idsOn(set, member), [1, 4])
  const [rollback, ...others] = set.eventsOf('rollback')
  t.match(rollback, { member: 'rs-1', set: 'rs' })
  t.ok(rollback!.entries >= 2)
  t.strictSame(others, [])
})

t.test('write concerns that no members can satisfy get the errors of the server', async (t) => {
  const set = await start(t)
  t.match(await set.command('rs-1', insert(1, { w: 4 })), {
    ok: 1,
    n: 1,
    writeConcernError: { code: 100, errmsg: 'Not enough data-bearing nodes' },
  })
  t.match(await set.command('rs-1', insert(2, { w: 'dc' })), {
    writeConcernError: { code: 79, errmsg: "No write concern mode named 'dc' found in replica set configuration" },
  })
  t.match(await set.command('rs-1', insert(5, { w: { dc: 2 } })), { ok: 1, n: 1, writeConcernError: { code: 4 } })
  await set.runtime.crash('rs-2')
  await set.runtime.crash('rs-3')
  t.match(await set.command('rs-1', insert(3, { w: 2, wtimeout: 100 })), { ok: 1, writeConcernError: { code: 64 } })
})

t.test('without a named concern a write waits for a majority since 5.0', async (t) => {
  for (const [emulate, waits] of [
    ['4.4', false],
    ['5.0', true],
  ] as const) {
    const set = await start(t, { emulate })
    await set.runtime.crash('rs-2')
    await set.runtime.crash('rs-3')
    const write = set.tryCommand('rs-1', { insert: 'rows', documents: [{ _id: 1 }] })
    const first = await Promise.race([write, set.runtime.advance(1000).then(() => 'waits')])
    t.equal(first === 'waits', waits, emulate)
    await set.runtime.restart('rs-2')
    t.match(await write, { ok: 1, n: 1 })
  }
})

t.test('a step-down by command hands over to a member that has everything', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, majority))
  t.match(await set.admin('rs-1', { replSetStepDown: 10 }), { ok: 1 })
  const next = await set.primary()
  t.not(next, 'rs-1')
  const election = set.eventsOf('election').at(-1)
  t.match(election, { member: next, outcome: 'won', reason: 'stepUpRequestSkipDryRun' })
  const refused = await set.command('rs-1', insert(2, { w: 1 }))
  t.match(refused, { ok: 0, code: 10107, codeName: 'NotWritablePrimary' })
  t.same(refused['topologyVersion'], (await set.admin('rs-1', { hello: 1 }))['topologyVersion'])
})

t.test('a step-down fails while no member has caught up, and the primary continues', async (t) => {
  const set = await start(t)
  const heal = await set.isolate('rs-1')
  await set.command('rs-1', insert(1, { w: 1 }))
  t.match(await set.admin('rs-1', { replSetStepDown: 60, secondaryCatchUpPeriodSecs: 1 }), { ok: 0, code: 262 })
  await heal()
  t.match(await set.command(await set.primary(), insert(2, majority)), { ok: 1 })
})

t.test('operations that run during a step-down end with an error that drivers retry', async (t) => {
  const set = await start(t)
  await set.runtime.crash('rs-2')
  await set.runtime.crash('rs-3')
  const lsid = { id: new UUID('01234567-89ab-4def-8123-456789abcdef') }
  const waiting = set.tryCommand('rs-1', { ...insert(1, majority), lsid, txnNumber: 1n })
  await set.runtime.advance(100)
  t.match(await set.admin('rs-1', { replSetStepDown: 1, force: true }), { ok: 1 })
  t.match(await waiting, {
    ok: 1,
    n: 1,
    writeConcernError: { code: 189, codeName: 'PrimarySteppedDown' },
    errorLabels: ['RetryableWriteError'],
  })
})

t.test('hello shows the set, and an awaitable one answers when the primary changes', async (t) => {
  const set = await start(t)
  // The primary's first change of the configuration makes members find it again.
  await set.runtime.advance(1000)
  const first = await set.command('rs-2', { hello: 1 })
  t.match(first, {
    setName: 'rs',
    setVersion: 1,
    isWritablePrimary: false,
    secondary: true,
    primary: 'rs-1:27017',
    me: 'rs-2:27017',
    hosts: ['rs-1:27017', 'rs-2:27017', 'rs-3:27017'],
  })
  const awaiting = set.command('rs-1', {
    hello: 1,
    topologyVersion: (await set.command('rs-1', { hello: 1 }))['topologyVersion'],
    maxAwaitTimeMS: 10_000,
  })
  await set.admin('rs-1', { replSetStepDown: 10 })
  t.match(await awaiting, { isWritablePrimary: false })
})

t.test('commands of the set', async (t) => {
  const set = await start(t)
  t.match(await set.admin('rs-1', { replSetFreeze: 10 }), { ok: 0, code: 95 })
  t.match(await set.admin('rs-2', { replSetFreeze: 60 }), { ok: 1 })
  t.match(await set.admin('rs-2', { replSetMaintenance: true }), { ok: 1 })
  t.match(await set.command('rs-2', { find: 'rows', ...fromSecondary }), { ok: 0, code: 13436 })
  t.match(await set.admin('rs-2', { replSetMaintenance: false }), { ok: 1 })
  t.match(await set.command('rs-2', { find: 'rows', ...fromSecondary }), { ok: 1 })
  t.match(await set.admin('rs-3', { replSetSyncFrom: 'rs-2:27017' }), { ok: 1, syncFromRequested: 'rs-2:27017' })
  t.match(await set.admin('rs-3', { replSetStepUp: 1 }), { ok: 1 })
  t.equal(await set.primary(), 'rs-3')
  const status = await set.admin('rs-3', { replSetGetStatus: 1 })
  t.match(status, { set: 'rs', myState: 1, votingMembersCount: 3, writeMajorityCount: 2 })
  t.strictSame(
    (status['members'] as Document[]).map((member) => member['stateStr']),
    ['SECONDARY', 'SECONDARY', 'PRIMARY'],
  )
  t.match(await set.admin('rs-1', { replSetGetConfig: 1 }), {
    config: { _id: 'rs', members: [{ _id: 0, host: 'rs-1:27017' }, {}, {}] },
  })
  const stored = await set.command('rs-1', { find: 'system.replset', $db: 'local', ...fromSecondary })
  t.match(stored['cursor'].firstBatch, [{ _id: 'rs', version: 1, members: [{}, {}, {}] }])
})

t.test('a reconfiguration changes one voter at a time, and priorities move the primary', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, majority))
  const { config } = await set.admin('rs-1', { replSetGetConfig: 1 })
  const members = config.members as Document[]
  const without = (...gone: number[]) => members.filter((_, i) => !gone.includes(i))
  t.match(await set.admin('rs-2', { replSetReconfig: { ...config, version: 9 } }), { ok: 0, code: 10107 })
  t.match(await set.admin('rs-1', { replSetReconfig: { ...config, version: 9, members: without(1, 2) } }), {
    ok: 0,
    code: 103,
  })
  const preferred = members.map((member, i) => ({ ...member, priority: i === 2 ? 5 : 1 }))
  t.match(
    await set.admin('rs-1', { replSetReconfig: { ...config, version: config.version + 1, members: preferred } }),
    {
      ok: 1,
    },
  )
  await set.runtime.advance(20_000)
  t.equal(await set.primary(), 'rs-3', 'a priority takeover')
  t.match(set.eventsOf('election').at(-1), { member: 'rs-3', reason: 'priorityTakeover' })
  const changed = (await set.admin('rs-3', { replSetGetConfig: 1 }))['config']
  const fewer = { ...changed, version: changed.version + 1, members: (changed.members as Document[]).slice(1) }
  t.match(await set.admin('rs-3', { replSetReconfig: fewer }), { ok: 1 })
  await set.runtime.advance(5000)
  t.match(await set.admin('rs-1', { replSetGetStatus: 1 }), { ok: 0, code: 93 }, 'the removed member')
})

t.test('a retryable write that is repeated on the new primary runs once', async (t) => {
  const set = await start(t)
  const lsid = { id: new UUID('01234567-89ab-4def-8123-456789abcdef') }
  const command = {
    update: 'rows',
    updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } }, upsert: true }],
    lsid,
    txnNumber: 1n,
  }
  t.match(await set.command('rs-1', { ...command, writeConcern: majority }), { ok: 1, n: 1 })
  await set.runtime.crash('rs-1')
  const next = await set.primary()
  t.match(await set.command(next, { ...command, writeConcern: majority }), { ok: 1, n: 1 })
  t.match(await set.command(next, { find: 'rows' }), { cursor: { firstBatch: [{ _id: 1, n: 1 }] } })
})

t.test('D907: a member whose disk was replaced copies everything in an initial sync', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, majority))
  await set.runtime.crash('rs-3')
  await set.runtime.replaceDisk('rs-3')
  await set.command('rs-1', insert(2, majority))
  await set.runtime.restart('rs-3')
  t.match(await set.command('rs-3', { find: 'rows', ...fromSecondary }), { ok: 0, code: 13436 }, 'not before')
  await set.settle()
  t.strictSame(await idsOn(set, 'rs-3', fromSecondary), [1, 2])
  t.match(await set.command('rs-1', insert(3, { w: 3 })), { ok: 1, n: 1 })
})

t.test('a secondary with a full disk lags, and catches up when there is room', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, { w: 3 }))
  const id = await set.runtime.faults.apply({ scope: 'member', address: 'rs-3', effect: { type: 'full-disk' } })
  t.match(await set.command('rs-1', insert(2, majority)), { ok: 1, n: 1 })
  t.match(await set.command('rs-1', insert(3, { w: 3, j: true, wtimeout: 1000 })), { writeConcernError: { code: 64 } })
  await set.runtime.faults.heal(id)
  t.match(await set.command('rs-1', insert(4, { w: 3, j: true, wtimeout: 10_000 })), { ok: 1, n: 1 })
  t.strictSame(await idsOn(set, 'rs-3'), [1, 2, 3, 4])
})

t.test('a member whose disk is full completes its initial sync when there is room', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, { w: 3 }))
  await set.runtime.crash('rs-3')
  await set.runtime.replaceDisk('rs-3')
  await set.runtime.restart('rs-3')
  const id = await set.runtime.faults.apply({ scope: 'member', address: 'rs-3', effect: { type: 'full-disk' } })
  await set.runtime.advance(10_000)
  t.match(await set.command('rs-3', { find: 'rows', ...fromSecondary }), { ok: 0, code: 13436 })
  t.match(await set.command('rs-1', insert(2, { w: 3, wtimeout: 1000 })), { writeConcernError: { code: 64 } })
  await set.runtime.faults.heal(id)
  t.match(await set.command('rs-1', insert(3, { w: 3, wtimeout: 10_000 })), { ok: 1, n: 1 })
  await set.runtime.crash('rs-3')
  await set.runtime.restart('rs-3')
  await set.settle()
  t.strictSame(await idsOn(set, 'rs-3'), [1, 2, 3], 'the copy is on the disk')
})

t.test('the fault step down makes a primary a secondary until it is healed', async (t) => {
  const set = await start(t)
  const switched = (value: true | null) => set.runtime.request('rs-1', 'faults.switch', { name: 'stepped-down', value })
  await switched(true)
  t.not(await set.primary(), 'rs-1')
  for (const other of ['rs-2', 'rs-3']) await set.runtime.crash(other)
  await set.runtime.restart('rs-2')
  await set.runtime.advance(10_000)
  t.equal(await set.primary(), 'rs-2')
  await switched(null)
  t.match(await set.admin('rs-1', { replSetStepUp: 1 }), { ok: 1 })
})

t.test('the oplog is the same on all members', async (t) => {
  const set = await start(t)
  await set.command('rs-1', { create: 'rows' })
  for (let i = 0; i < 5; i++) await set.command('rs-1', insert(i, { w: 3 }))
  const entries = await Promise.all(
    set.names.map(async (member) => {
      const find = { find: 'oplog.rs', batchSize: 1000, $db: 'local', $readPreference: { mode: 'secondaryPreferred' } }
      return (await set.command(member, find))['cursor'].firstBatch as Document[]
    }),
  )
  t.match(entries[0]![0], { op: 'n', o: { msg: 'initiating set' } })
  t.match(entries[0]![1], { op: 'n', o: { msg: 'new primary' } })
  t.ok(entries[0]!.length >= 8)
  t.strictSame(entries[1], entries[0])
  t.strictSame(entries[2], entries[0])
})
