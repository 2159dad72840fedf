import { CommandError } from '@shardlab/bson'
import { ReplicationCoordinator, stepDownFailure, type CommandAnswer } from '@shardlab/replication'
import t from 'tap'
import { read, rulesOf, versions } from '../support/documents.js'
import { at, LoneMember, secondaryReply } from '../support/member.js'
import { memberConfig, replicaSetConfig } from '../support/random-run.js'

const three = replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2)])

const textOf = (answer: CommandAnswer | null): string =>
  answer === null
    ? 'ok'
    : answer instanceof CommandError
      ? `${answer.code} ${answer.message}`
      : JSON.stringify(read(answer.finish()))

function primary(): LoneMember {
  const member = new LoneMember(three)
  member.becomePrimary()
  return member
}

t.test('a member without a configuration refuses every command but replSetInitiate', async (t) => {
  const coordinator = new ReplicationCoordinator({
    setName: 'rs',
    selfHost: 'm0:1',
    rules: rulesOf('7.0'),
    random: () => 0,
    clusterTime: () => [1, 1],
  })
  const fault = '94 no replset config has been received'
  t.equal(textOf(coordinator.commands.freeze(1, 1)), fault)
  t.equal(textOf(coordinator.commands.setMaintenance(1, true)), fault)
  t.equal(textOf(coordinator.commands.syncFrom(1, 'a:1')), fault)
  t.equal(textOf(coordinator.commands.stepUp(1, false)), fault)
  t.equal(textOf(coordinator.commands.abortCatchUp(1)), fault)
  t.equal(textOf(coordinator.commands.getConfig(false)), fault)
  t.equal(textOf(coordinator.commands.stepDown(1, { seconds: 60, catchUpSeconds: null, force: false })), fault)
})

t.test('replSetStepDown checks its periods, then the state', async (t) => {
  const member = new LoneMember(three)
  const stepDown = (seconds: number, catchUpSeconds: number | null, force = false) =>
    textOf(member.coordinator.commands.stepDown(member.nowMs, { seconds, catchUpSeconds, force }))
  t.equal(stepDown(-1, null), '2 stepdown period must be a positive integer')
  t.equal(stepDown(60, -1), '2 secondaryCatchUpPeriodSecs period must be a positive or absent')
  t.equal(stepDown(5, null), '2 stepdown period must be longer than secondaryCatchUpPeriodSecs')
  t.equal(stepDown(0, null), "10107 not primary so can't step down")
  const leader = primary()
  const args = { seconds: 60, catchUpSeconds: 10, force: false }
  t.equal(leader.coordinator.commands.stepDown(leader.nowMs, args), null)
  t.equal(
    textOf(leader.coordinator.commands.stepDown(leader.nowMs, args)),
    '117 This node is already in the process of stepping down',
  )
})

t.test('a step-down that fails says why, in the words of each version', async (t) => {
  for (const version of versions) {
    const zone = rulesOf(version).stepDownError === 'long zone' ? '+00:00' : '+0000'
    t.equal(
      textOf(stepDownFailure('not-caught-up', 0, rulesOf(version))),
      `262 No electable secondaries caught up as of 1970-01-01T00:00:00.000${zone}. Please use the replSetStepDown command with the argument {force: true} to force node to step down.`,
      version,
    )
  }
  t.match(
    textOf(stepDownFailure('other-step-down', 0, rulesOf('7.0'))),
    /^189 .*decided to step down for other reasons/,
  )
  t.match(textOf(stepDownFailure('too-late', 0, rulesOf('7.0'))), /^262 By the time we were ready/)
})

t.test('a forced step-down asks no other member to run for election', async (t) => {
  for (const force of [false, true]) {
    const member = primary()
    const { coordinator } = member
    coordinator.commands.stepDown(member.nowMs, { seconds: 60, catchUpSeconds: 10, force })
    member.advanceTo(member.nowMs + 3000, () => secondaryReply({ term: 1, applied: at(1, 1), durable: at(1, 1) }))
    coordinator.steppedDown(member.nowMs, 'command')
    member.take()
    t.equal(member.of('step-up').length, force ? 0 : 1)
  }
})

t.test('replSetFreeze answers with information, and not on primaries and candidates', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  t.equal(textOf(coordinator.commands.freeze(member.nowMs, 0)), '{"info":"unfreezing"}')
  t.equal(
    textOf(coordinator.commands.freeze(member.nowMs, 1)),
    '{"warning":"you really want to freeze for only 1 second?"}',
  )
  t.equal(textOf(coordinator.commands.freeze(member.nowMs, 0)), '{"info":"unfreezing"}')
  member.advanceTo(member.nowMs, () => secondaryReply())
  coordinator.stepUp(member.nowMs, 'stepUpRequest')
  const refused = '95 Cannot freeze node when primary or running for election, state: '
  t.equal(textOf(coordinator.commands.freeze(member.nowMs, 5)), `${refused}Running-Election`)
  t.equal(textOf(coordinator.commands.setMaintenance(member.nowMs, true)), '95 currently running for election')
  t.equal(textOf(primary().coordinator.commands.freeze(5000, 5)), `${refused}Primary`)
  const old = new LoneMember({ ...three, term: -1 }, 0, rulesOf('4.0'))
  old.becomePrimary()
  t.equal(
    textOf(old.coordinator.commands.freeze(old.nowMs, 5)),
    '95 cannot freeze node when primary or running for election. state: Primary',
  )
})

t.test('replSetMaintenance counts', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  const set = (on: boolean) => textOf(coordinator.commands.setMaintenance(member.nowMs, on))
  t.equal(set(false), '96 already out of maintenance mode')
  t.same([set(true), set(true), coordinator.memberState], ['ok', 'ok', 'RECOVERING'])
  t.same([set(false), coordinator.memberState], ['ok', 'RECOVERING'])
  t.same([set(false), coordinator.memberState], ['ok', 'SECONDARY'])
  t.equal(
    textOf(primary().coordinator.commands.setMaintenance(5000, true)),
    "95 primaries can't modify maintenance mode",
  )
})

t.test('replSetSyncFrom refuses sources that cannot be, and takes others once', async (t) => {
  const config = replicaSetConfig([
    memberConfig(0),
    memberConfig(1),
    memberConfig(2, { arbiterOnly: true, priority: 0 }),
    memberConfig(3, { buildIndexes: false, priority: 0 }),
    memberConfig(4, { votes: 0, priority: 0 }),
    memberConfig(5),
  ])
  const member = new LoneMember(config)
  member.advanceTo(member.nowMs + 100, (host) => (host === 'm5:1' ? null : secondaryReply()))
  const from = (host: string) => textOf(member.coordinator.commands.syncFrom(member.nowMs, host))
  t.equal(from(''), '9 Empty host component parsing HostAndPort from ""')
  t.equal(from('x:1'), '74 Could not find member "x:1" in replica set')
  t.equal(from('m0:1'), '72 I cannot sync from myself')
  t.equal(from('m2:1'), '72 Cannot sync from "m2:1" because it is an arbiter')
  t.equal(from('m3:1'), '72 Cannot sync from "m3:1" because it does not build indexes')
  t.equal(from('m4:1'), '72 Cannot sync from "m4:1" because it is not a voter')
  t.equal(from('m5:1'), '6 I cannot reach the requested member: m5:1')
  t.equal(from('m1:1'), '{"syncFromRequested":"m1:1"}')
  t.equal(member.coordinator.chooseSyncSource(member.nowMs, at(9, 0).optime), 'm1:1')
  member.coordinator.progress(member.nowMs, at(50, 0), at(50, 0))
  t.equal(
    from('m1:1'),
    '{"syncFromRequested":"m1:1","warning":"requested member \\"m1:1\\" is more than 10 seconds behind us","prevSyncTarget":"m1:1"}',
  )
  t.equal(textOf(primary().coordinator.commands.syncFrom(5000, 'm1:1')), "95 primaries don't sync")
  t.equal(textOf(new LoneMember(config, 2).coordinator.commands.syncFrom(5000, 'm1:1')), "95 arbiters don't sync")
})

t.test('replSetStepUp succeeds on the primary that was elected', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  t.equal(coordinator.commands.stepUp(member.nowMs, true), null)
  t.notOk(coordinator.isCandidate, 'it sees no majority')
  t.equal(textOf(coordinator.commands.stepUpResult()), '125 Election failed.')
  member.advanceTo(member.nowMs, () => secondaryReply())
  coordinator.commands.stepUp(member.nowMs, false)
  t.ok(coordinator.isCandidate)
  member.finishElection(() => secondaryReply())
  t.equal(coordinator.commands.stepUpResult(), null)
  coordinator.commands.stepDown(member.nowMs, { seconds: 60, catchUpSeconds: 10, force: false })
  t.equal(textOf(coordinator.commands.stepUpResult()), '125 Election failed due to concurrent stepdown.')
  t.equal(textOf(coordinator.commands.abortCatchUp(member.nowMs)), '20 The node is not in catch-up mode.')
})

t.test(
  'replSetGetConfig hides newlyAdded, and only a primary knows whether the configuration is committed',
  async (t) => {
    for (const version of versions) {
      const rules = rulesOf(version)
      const config = replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2, { newlyAdded: true })])
      const member = new LoneMember(config, 0, rules)
      const answer = textOf(member.coordinator.commands.getConfig(false))
      t.notMatch(answer, /newlyAdded/, version)
      t.match(
        textOf(member.coordinator.commands.getConfig(true)),
        rules.safeReconfig ? /^10107 commitmentStatus is only supported on primary\.$/ : /^\{"config"/,
        version,
      )
      member.becomePrimary()
      t.match(
        textOf(member.coordinator.commands.getConfig(true)),
        rules.safeReconfig ? /"commitmentStatus":false\}$/ : /^\{"config"/,
      )
    }
  },
)
