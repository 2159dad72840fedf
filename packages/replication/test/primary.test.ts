import { DocumentWriter } from '@shardlab/bson'
import t from 'tap'
import { reconfigFault, type HeartbeatReply, type TimedOpTime } from '@shardlab/replication'
import { read } from './support/documents.js'
import { at, LoneMember, secondaryReply } from './support/member.js'
import { currentRules, memberConfig, replicaSetConfig } from './support/random-run.js'

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
  t.notOk(coordinator.isWritablePrimary, 'others have entries that it lacks')
  t.equal(member.of('drain').length, 0)
  coordinator.progress(member.nowMs, at(4, 0), at(4, 0))
  t.notOk(coordinator.isWritablePrimary)
  member.nowMs = 5000
  member.finishElection(() => ahead)
  t.equal(member.of('drain').length, 1)
  t.equal(member.of('store-config')[0]!.config.term, 1, 'the configuration gets the new term')
  t.ok(coordinator.isWritablePrimary)
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
  const last = at(1, 1).optime
  const decide = (w: number, j: boolean | null = null) => coordinator.decideWriteConcern(last, { w, j })
  t.equal(decide(0), 'satisfied')
  t.equal(decide(1), 'satisfied')
  t.equal(decide(2), 'waiting')
  t.match(decide(3), { code: 100, message: 'Not enough data-bearing nodes' }, 'at once')
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(1, at(1, 1)), position(2, at(1, 1))] })
  t.equal(decide(2, true), 'satisfied')
})

t.test('progress in another term does not count', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.becomePrimary()
  const other = { term: 1, positions: [position(1, at(9, 0)), position(2, at(9, 0))] }
  coordinator.positionsReceived(member.nowMs, other)
  t.equal(coordinator.decideWriteConcern(at(1, 1).optime, { w: 2, j: null }), 'waiting')
})

t.test('tags count distinct values', async (t) => {
  const tagged = (id: number, dc: string) => memberConfig(id, { tags: [['dc', dc]] })
  const modes = [
    ['two', [['dc', 2]]],
    ['three', [['dc', 3]]],
  ] as const
  const config = replicaSetConfig([tagged(0, 'east'), tagged(1, 'east'), tagged(2, 'west')])
  const member = new LoneMember({ ...config, settings: { ...config.settings, modes } })
  const { coordinator } = member
  member.becomePrimary()
  const last = at(1, 1).optime
  const decide = (w: string) => coordinator.decideWriteConcern(last, { w, j: null })
  t.match(decide('three'), { code: 100, message: 'Not enough nodes match write concern mode "three"' })
  t.match(decide('x'), { code: 79, message: "No write concern mode named 'x' found in replica set configuration" })
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(1, at(1, 1))] })
  t.equal(decide('two'), 'waiting')
  t.equal(decide('majority'), 'satisfied')
  coordinator.positionsReceived(member.nowMs, { term: 1, positions: [position(2, at(1, 1))] })
  t.equal(decide('two'), 'satisfied')
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
  t.notOk(coordinator.isWritablePrimary)
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
  t.equal(coordinator.commands.stepDown(nowMs, { seconds: 60, catchUpSeconds: 10, force: false }), null)
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
    coordinator.commands.stepDown(nowMs, { seconds: 60, catchUpSeconds: 5, force })
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
  const checker = { rules: currentRules, selfHost: 'm0:1', isConfigServer: false }
  t.match(reconfigFault(three, five, false, checker), /can only add or remove at most 1 voting member/)
  t.equal(reconfigFault(three, five, true, checker), null)
  t.equal(reconfigFault(three, { ...five, members: five.members.slice(0, 4) }, false, checker), null)
})

t.test('hello lists electable, passive and arbiter members, and no hidden or delayed ones', async (t) => {
  const config = replicaSetConfig([
    memberConfig(0),
    memberConfig(1, { priority: 0 }),
    memberConfig(2, { priority: 0, hidden: true }),
    memberConfig(3, { priority: 0, delaySecs: 60 }),
    memberConfig(4, { arbiterOnly: true, priority: 0 }),
  ])
  const writer = new DocumentWriter()
  const processId = new Uint8Array(12)
  const options = { legacy: false, processId, majorityReads: null, role: 'none', defaultWriteConcern: null } as const
  new LoneMember(config).coordinator.commands.writeHello(writer, options)
  t.match(read(writer.finish()), { hosts: ['m0:1'], passives: ['m1:1'], arbiters: ['m4:1'] })
})

t.test('an idle primary writes a no-op each interval, and none after another write', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.becomePrimary()
  const start = member.nowMs
  const reply = () => secondaryReply({ term: 1, applied: coordinator.state.self.applied })
  const noops = () => member.of('write-noop').length
  member.advanceTo(start + 9999, reply)
  t.equal(noops(), 0)
  member.advanceTo(start + 10_000, reply)
  t.equal(noops(), 1)
  const noop = at(start / 1000 + 10, 1)
  coordinator.progress(member.nowMs, noop, noop)
  coordinator.noopWritten(member.nowMs)
  member.advanceTo(start + 20_000, reply)
  t.equal(noops(), 2, 'the no-op itself is not a write')
  const write = at(start / 1000 + 25, 1)
  coordinator.progress(member.nowMs, write, write)
  member.advanceTo(start + 30_000, reply)
  t.equal(noops(), 2)
})

t.test('a wait for a write concern ends when the primary steps down', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  member.becomePrimary()
  const decide = (term: number) => coordinator.decideWriteConcern(at(1, term).optime, { w: 'majority', j: null })
  t.equal(decide(1), 'waiting')
  t.match(decide(0), { code: 189, message: /^Term changed from 0 to 1 while waiting for replication/ })
  coordinator.commands.stepDown(member.nowMs, { seconds: 60, catchUpSeconds: 0, force: true })
  t.match(decide(1), { code: 189, message: 'Received stepdown request while waiting for replication' })
  coordinator.steppedDown(member.nowMs, 'command')
  t.match(decide(1), { code: 189, message: 'Primary stepped down while waiting for replication' })
})
