/** What a member needs to roll back, and initial syncs of members that cannot. */
import { Binary, Long, Timestamp, type Document } from '@shardlab/bson'
import t from 'tap'
import { fromSecondary, idsOn, insert, majority, start } from './rows-of-set.js'

t.test('a small oplog keeps what a rollback needs, also over a restart', async (t) => {
  for (const restarts of [false, true]) {
    const set = await start(t)
    await set.command('rs-1', insert(1, majority))
    await set.runtime.request('rs-1', 'faults.switch', { name: 'small-oplog', value: 1000 })
    const heal = await set.isolate('rs-1')
    for (let i = 100; i < 150; i++) await set.command('rs-1', insert(i, { w: 1 }))
    if (restarts) await set.runtime.crash('rs-1')
    await set.runtime.advance(5000)
    const next = await set.primary()
    await set.command(next, insert(2, majority))
    await heal()
    if (restarts) await set.runtime.restart('rs-1')
    await set.settle()
    for (const member of set.names) t.strictSame(await idsOn(set, member), [1, 2])
    const [rollback] = set.eventsOf('rollback')
    t.ok(rollback!.entries >= 50)
    const states = set
      .eventsOf('member-state')
      .filter(({ member, atMs }) => member === 'rs-1' && atMs >= rollback!.atMs)
    t.notOk(
      states.some(({ to }) => to === 'STARTUP2'),
      'no initial sync',
    )
  }
})

t.test('a checkpoint has all entries that a rollback needs, also on a small disk', async (t) => {
  // The oplog has a sixteenth of the disk.
  const set = await start(t, { diskLimitBytes: 64 * 1024, checkpointAfterBytes: 2000 })
  await set.command('rs-1', insert(1, majority))
  const heal = await set.isolate('rs-1')
  for (let i = 100; i < 150; i++) t.match(await set.command('rs-1', insert(i, { w: 1 })), { ok: 1, n: 1 })
  await set.runtime.crash('rs-1')
  const next = await set.primary()
  await set.command(next, insert(2, majority))
  await heal()
  await set.runtime.restart('rs-1')
  await set.settle()
  for (const member of set.names) t.strictSame(await idsOn(set, member), [1, 2])
})

t.test('an initial sync from a member that was alone does not copy its whole oplog', async (t) => {
  const set = await start(t, { members: 2 })
  const reconfigure = async (members: Document[]) => {
    const { config: current } = await set.admin('rs-1', { replSetGetConfig: 1 })
    const next = { ...current, version: current.version + 1, members }
    t.match(await set.admin('rs-1', { replSetReconfig: next }), { ok: 1 })
  }
  const { config } = await set.admin('rs-1', { replSetGetConfig: 1 })
  await reconfigure([config.members[0]])
  for (let i = 0; i < 200; i++) await set.command('rs-1', insert(i, { w: 1 }))
  await set.runtime.crash('rs-2')
  await set.runtime.replaceDisk('rs-2')
  await set.runtime.restart('rs-2')
  await reconfigure(config.members)
  await set.settle()
  const [whole, copied] = await Promise.all(
    set.names.map((name) => set.command(name, { collStats: 'oplog.rs', $db: 'local', ...fromSecondary })),
  )
  t.ok(whole!['count'] > 200)
  t.ok(copied!['count'] < 20, `${copied!['count']}`)
  t.match(await set.command('rs-2', { count: 'rows', ...fromSecondary }), { n: 200 })
})

t.test('a member whose initial sync copied entries that its source rolls back copies again', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, majority))
  const heal = await set.isolate('rs-1')
  await set.command('rs-1', insert(2, { w: 1 }))
  await set.runtime.advance(5000)
  const next = await set.primary()
  const third = next === 'rs-2' ? 'rs-3' : 'rs-2'
  await set.command(next, insert(3, majority))
  await set.runtime.crash(third)
  await set.runtime.replaceDisk(third)
  await set.runtime.crash(next)
  await heal()
  await set.runtime.restart(third)
  await set.runtime.advance(700)
  t.strictSame(await idsOn(set, third), [1, 2], 'from rs-1')
  await set.runtime.restart(next)
  await set.settle()
  for (const member of set.names) t.strictSame(await idsOn(set, member), [1, 3])
})

t.test('a member that has no entry in common with its set reports it, and an empty disk helps', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert(1, majority))
  const heal = await set.isolate('rs-1')
  // Later than all entries of the others, so its oplog does not end before theirs begin.
  const clusterTime = new Timestamp({ t: Math.floor(set.runtime.now() / 1000) + 600, i: 1 })
  const signature = { hash: new Binary(new Uint8Array(20)), keyId: Long.ZERO }
  await set.command('rs-1', { ...insert(2, { w: 1 }), $clusterTime: { clusterTime, signature } })
  await set.runtime.advance(5000)
  const next = await set.primary()
  for (const member of ['rs-2', 'rs-3'])
    await set.runtime.request(member, 'faults.switch', { name: 'small-oplog', value: 1000 })
  const ids = Array.from({ length: 30 }, (_, i) => 100 + i)
  for (const id of ids) await set.command(next, insert(id, majority))
  await heal()
  await set.runtime.advance(20_000)
  t.match(set.eventsOf('rollback-failed'), [{ member: 'rs-1', set: 'rs', source: /^rs-[23]$/ }])
  t.strictSame(set.eventsOf('rollback'), [])
  await set.runtime.crash('rs-1')
  await set.runtime.replaceDisk('rs-1')
  await set.runtime.restart('rs-1')
  await set.settle()
  for (const member of set.names) t.strictSame(await idsOn(set, member), [1, ...ids])
})

t.test('a member that restarts rolls back from its log, with and without a checkpoint', async (t) => {
  for (const checkpointAfterBytes of [1 << 20, 2000]) {
    const set = await start(t, { checkpointAfterBytes })
    for (let i = 0; i < 40; i++) await set.command('rs-1', insert(i, { w: i % 10 === 9 ? 'majority' : 1 }))
    const heal = await set.isolate('rs-1')
    for (let i = 100; i < 130; i++) await set.command('rs-1', insert(i, { w: 1 }))
    await set.runtime.crash('rs-1')
    const next = await set.primary()
    await set.command(next, insert(200, majority))
    await heal()
    await set.runtime.restart('rs-1')
    await set.settle()
    const expected = [...Array.from({ length: 40 }, (_, i) => i), 200]
    for (const member of set.names)
      t.strictSame(await idsOn(set, member), expected, `${member}, ${checkpointAfterBytes}`)
  }
})
