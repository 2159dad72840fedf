import t from 'tap'
import type { HeartbeatReply, TimedOpTime } from '@shardlab/replication'
import { at, LoneMember, secondaryReply } from './support/member.js'
import { memberConfig, replicaSetConfig } from './support/random-run.js'

const three = replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2)])

const position = (memberId: number, applied: TimedOpTime) => ({ memberId, configVersion: 1, applied, durable: applied })

t.test('a new primary is not writable before catch-up, drain and its first entry', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.advanceTo(member.nowMs, () => secondaryReply())
  coordinator.stepUp(member.nowMs, 'stepUpRequestSkipDryRun')
  const ahead = secondaryReply({ applied: at(4, 0), durable: at(4, 0) })
  member.finishElection(() => ahead)
  t.equal(coordinator.memberState, 'PRIMARY')
  t.notOk(coordinator.hello().isWritablePrimary, 'others have entries that it lacks')
  t.equal(member.of('drain').length, 0)
  coordinator.progress(member.nowMs, at(4, 0), at(4, 0))
  t.notOk(coordinator.isWritablePrimary)
  member.nowMs = 5000
  member.finishElection(() => ahead)
  t.equal(member.of('drain').length, 1)
  t.equal(member.of('store-config')[0]!.config.term, 1, 'the configuration gets the new term')
  t.ok(coordinator.hello().isWritablePrimary)
})

t.test('nothing is committed before the first entry of the own term is on a majority', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.becomePrimary()
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(1, at(1, 0))] })
  t.equal(coordinator.committed.optime.term, -1)
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(1, at(1, 1))] })
  t.strictSame(coordinator.committed.optime, at(1, 1).optime)
})

t.test('an arbiter does not count for write concerns', async (t) => {
  const config = replicaSetConfig([
    memberConfig(0),
    memberConfig(1),
    memberConfig(2, { arbiterOnly: true, priority: 0 }),
  ])
  const member = new LoneMember(config)
  const { coordinator } = member
  member.becomePrimary()
  t.ok(coordinator.canSatisfy(2))
  t.notOk(coordinator.canSatisfy(3))
  const last = at(1, 1).optime
  t.ok(coordinator.haveMembersReached(last, 1, false))
  t.notOk(coordinator.haveMembersReached(last, 2, false))
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(1, at(1, 1)), position(2, at(1, 1))] })
  t.ok(coordinator.haveMembersReached(last, 2, true))
  t.notOk(coordinator.haveMembersReached(last, 3, false))
})

t.test('progress in another term does not count', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.becomePrimary()
  const other = { term: 1, positions: [position(1, at(9, 0)), position(2, at(9, 0))] }
  coordinator.positionsReceived(member.nowMs, other)
  t.notOk(coordinator.haveMembersReached(at(1, 1).optime, 2, false))
})

t.test('tags count distinct values', async (t) => {
  const tagged = (id: number, dc: string) => memberConfig(id, { tags: [['dc', dc]] })
  const member = new LoneMember(replicaSetConfig([tagged(0, 'east'), tagged(1, 'east'), tagged(2, 'west')]))
  const { coordinator } = member
  member.becomePrimary()
  t.ok(coordinator.canSatisfy([['dc', 2]]))
  t.notOk(coordinator.canSatisfy([['dc', 3]]))
  const last = at(1, 1).optime
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(1, at(1, 1))] })
  t.notOk(coordinator.haveTagsReached(last, [['dc', 2]], false))
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(2, at(1, 1))] })
  t.ok(coordinator.haveTagsReached(last, [['dc', 2]], false))
})

t.test('a primary that learns of a higher term steps down before it adopts the term', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.becomePrimary()
  coordinator.readerRequested(member.nowMs, 5)
  member.take()
  t.strictSame(
    member.of('step-down').map(({ reason }) => reason),
    ['higher-term'],
  )
  t.notOk(coordinator.hello().isWritablePrimary)
  t.equal(coordinator.memberState, 'PRIMARY')
  t.equal(coordinator.state.term, 1)
  coordinator.positionsReceived(member.nowMs, { term: 5, positions: [position(1, at(1, 1)), position(2, at(1, 1))] })
  t.equal(coordinator.committed.optime.term, -1, 'it commits nothing any more')
  coordinator.steppedDown(member.nowMs, 'higher-term')
  t.equal(coordinator.memberState, 'SECONDARY')
  t.equal(coordinator.state.term, 5)
})

t.test('a primary without a sign of life from a majority for the election timeout steps down', async (t) => {
  const member = new LoneMember(three)
  member.becomePrimary()
  const reply = (host: string): HeartbeatReply | null =>
    host === 'm1:1' && member.nowMs < 20_000 ? secondaryReply({ term: 1 }) : null
  member.advanceTo(25_000, reply)
  t.equal(member.of('step-down').length, 0, 'one of two others is a majority')
  member.advanceTo(40_000, reply)
  t.strictSame(
    member.of('step-down').map(({ reason }) => reason),
    ['lost-majority'],
  )
})

t.test('replSetStepDown waits for a majority and an electable member, and hands over to it', async (t) => {
  const config = replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2, { priority: 2 })])
  const member = new LoneMember(config)
  const { coordinator } = member
  member.becomePrimary()
  const { nowMs } = member
  t.equal(
    coordinator.stepDown(nowMs, { waitUntilMs: nowMs + 10_000, stepDownUntilMs: nowMs + 60_000, force: false }),
    null,
  )
  t.notOk(coordinator.isWritablePrimary, 'writes stop')
  t.equal(member.of('step-down').length, 0)
  const caughtUp = secondaryReply({ term: 1, applied: at(1, 1), durable: at(1, 1) })
  member.advanceTo(nowMs + 3000, () => caughtUp)
  t.strictSame(
    member.of('step-down').map(({ reason }) => reason),
    ['command'],
  )
  coordinator.steppedDown(member.nowMs, 'command')
  member.take()
  t.strictSame(
    member.of('step-up').map(({ to }) => to),
    ['m2:1'],
    'the highest priority',
  )
})

t.test('replSetStepDown fails when no member catches up, and writes resume; force does not fail', async (t) => {
  for (const force of [false, true]) {
    const member = new LoneMember(three)
    const { coordinator } = member
    member.becomePrimary()
    const { nowMs } = member
    coordinator.stepDown(nowMs, { waitUntilMs: nowMs + 5000, stepDownUntilMs: nowMs + 60_000, force })
    member.advanceTo(nowMs + 6000, () => secondaryReply({ term: 1 }))
    t.equal(member.of('step-down').length, force ? 1 : 0)
    t.equal(member.of('step-down-failed').length, force ? 0 : 1)
    t.equal(coordinator.isWritablePrimary, !force)
  }
})

t.test('two voters at once are refused, and a change waits until the last one is on a majority', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.becomePrimary()
  t.equal(coordinator.configCommitment(), 'not-on-majority')
  const reply = secondaryReply({ term: 1, config: { version: 1, term: 1 }, applied: at(1, 1), durable: at(1, 1) })
  member.advanceTo(member.nowMs + 3000, () => reply)
  t.equal(coordinator.configCommitment(), 'committed')
  const five = { ...three, version: 2, term: 1, members: [...three.members, memberConfig(3), memberConfig(4)] }
  t.match(coordinator.reconfigFault(five, false), /can only add or remove at most 1 voting member/)
  t.equal(coordinator.reconfigFault(five, true), null)
  t.equal(coordinator.reconfigFault({ ...five, members: five.members.slice(0, 4) }, false), null)
})

t.test('hello lists electable, passive and arbiter members, and no hidden or delayed ones', async (t) => {
  const config = replicaSetConfig([
    memberConfig(0),
    memberConfig(1, { priority: 0 }),
    memberConfig(2, { priority: 0, hidden: true }),
    memberConfig(3, { priority: 0, delaySecs: 60 }),
    memberConfig(4, { arbiterOnly: true, priority: 0 }),
  ])
  const { set } = new LoneMember(config).coordinator.hello()
  t.match(set!.member, { hosts: ['m0:1'], passives: ['m1:1'], arbiters: ['m4:1'] })
})
