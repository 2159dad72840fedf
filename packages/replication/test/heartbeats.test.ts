import t from 'tap'
import { at, LoneMember, secondaryReply } from './support/member.js'
import { memberConfig, replicaSetConfig } from './support/random-run.js'

const three = replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2)])
const secondary = (): LoneMember => new LoneMember(three, 1)

t.test('heartbeats to members that answered about the same time leave at the same time', async (t) => {
  const member = secondary()
  const { coordinator } = member
  coordinator.state.syncSource = three.members[0]!.host
  coordinator.tick(member.nowMs)
  for (const { id, to } of member.take().filter((effect) => effect.kind === 'heartbeat')) {
    member.nowMs += 4
    coordinator.heartbeatReplied(member.nowMs, id, to, secondaryReply())
  }
  const dueMs = coordinator.nextTimerMs!
  t.equal(dueMs, 1004 + 2000, 'two seconds after the first reply')
  coordinator.tick(dueMs)
  t.equal(member.take().filter(({ kind }) => kind === 'heartbeat').length, 2)
})

t.test('heartbeats to members that answered at different times stay apart', async (t) => {
  const member = secondary()
  const { coordinator } = member
  coordinator.state.syncSource = three.members[0]!.host
  coordinator.tick(member.nowMs)
  for (const { id, to } of member.take().filter((effect) => effect.kind === 'heartbeat')) {
    member.nowMs += 6
    coordinator.heartbeatReplied(member.nowMs, id, to, secondaryReply())
  }
  coordinator.tick(coordinator.nextTimerMs!)
  t.equal(member.take().filter(({ kind }) => kind === 'heartbeat').length, 1)
})

t.test('a member reports its position when it advances, and five seconds after the last report', async (t) => {
  const member = secondary()
  const { coordinator } = member
  member.advanceTo(member.nowMs, () => secondaryReply())
  coordinator.state.syncSource = three.members[0]!.host
  const reportsUntil = (nowMs: number): number => {
    const before = member.of('report-position').length
    member.advanceTo(nowMs, () => secondaryReply())
    return member.of('report-position').length - before
  }
  coordinator.progress(member.nowMs, at(2, 0), at(2, 0))
  t.equal(reportsUntil(member.nowMs), 1)
  const lastMs = member.nowMs
  t.equal(reportsUntil(lastMs + 4999), 0)
  t.equal(reportsUntil(lastMs + 5000), 1)
  t.equal(reportsUntil(lastMs + 9999), 0)
  t.equal(reportsUntil(lastMs + 10_000), 1)
})

t.test('a secondary passes on what a heartbeat says only of members that sync from it', async (t) => {
  for (const [syncingTo, reports] of [
    [three.members[0]!.host, 0],
    [three.members[1]!.host, 1],
  ] as const) {
    const member = secondary()
    const { coordinator } = member
    member.advanceTo(member.nowMs, () => secondaryReply())
    coordinator.state.syncSource = three.members[0]!.host
    member.effects = []
    const reply = secondaryReply({ syncingTo, applied: at(3, 0), durable: at(3, 0) })
    member.advanceTo(member.nowMs + 2000, (host) => (host === three.members[2]!.host ? reply : secondaryReply()))
    t.equal(member.of('report-position').length, reports, `member 2 syncs from ${syncingTo}`)
  }
})
