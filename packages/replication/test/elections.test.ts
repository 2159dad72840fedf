import { CommandError } from '@shardlab/bson'
import t from 'tap'
import type { VoteRequest } from '@shardlab/replication'
import { at, LoneMember, secondaryReply } from './support/member.js'
import { currentRules, memberConfig, replicaSetConfig } from './support/random-run.js'

const three = replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2)])

const request = (changes: Partial<VoteRequest> = {}): VoteRequest => ({
  setName: 'rs',
  dryRun: false,
  term: 1,
  candidateIndex: 1,
  config: { version: 1, term: 0 },
  lastApplied: at(1, 0).optime,
  ...changes,
})

t.test('without a primary a member runs for election when the election timeout is over', async (t) => {
  const member = new LoneMember(three)
  member.advanceTo(10_999, () => secondaryReply())
  t.equal(member.of('request-vote').length, 0)
  member.advanceTo(11_000, () => secondaryReply())
  const requests = member.of('request-vote')
  t.strictSame(
    requests.map(({ to, request: { dryRun, term } }) => [to, dryRun, term]),
    [
      ['m1:1', true, 0],
      ['m2:1', true, 0],
    ],
    'the dry run asks in the current term',
  )
  t.equal(member.coordinator.state.term, 0)
})

t.test('a dry run stores no vote; the real round asks others after its own vote is stored', async (t) => {
  const member = new LoneMember(three)
  member.advanceTo(11_000, () => secondaryReply())
  const [first] = member.of('request-vote')
  member.effects = []
  member.coordinator.voteReplied(member.nowMs, first!.id, { term: 0, granted: true, reason: '' })
  member.take()
  t.strictSame(
    member.of('store-vote').map(({ vote }) => vote),
    [{ term: 1, candidateIndex: 0 }],
  )
  t.equal(member.of('request-vote').length, 0, 'no voter is asked yet')
  member.coordinator.voteStored(member.nowMs, 1)
  member.take()
  t.strictSame(
    member.of('request-vote').map(({ request: { dryRun, term } }) => [dryRun, term]),
    [
      [false, 1],
      [false, 1],
    ],
  )
})

t.test('heartbeats of the primary put the election off', async (t) => {
  const member = new LoneMember(three)
  const reply = (host: string) => secondaryReply(host === 'm1:1' ? { state: 'PRIMARY', term: 0 } : {})
  member.advanceTo(60_000, reply)
  t.equal(member.of('request-vote').length, 0)
  t.equal(member.coordinator.state.primary?.host, 'm1:1')
})

t.test('a voter grants one vote in each term and remembers it after a restart', async (t) => {
  const member = new LoneMember(three)
  const { coordinator } = member
  t.match(coordinator.answerVoteRequest(2000, request()), { granted: true, term: 1 })
  t.match(coordinator.answerVoteRequest(2000, request({ candidateIndex: 2 })), {
    granted: false,
    reason: 'already voted for another candidate (m1:1) this term (1)',
  })
  const restarted = new LoneMember(three)
  restarted.coordinator.start(3000, { config: three, vote: coordinator.state.lastVote, last: at(1, 0) })
  t.match(restarted.coordinator.answerVoteRequest(3000, request({ candidateIndex: 2 })), { granted: false })
  t.match(restarted.coordinator.answerVoteRequest(3000, request({ candidateIndex: 2, term: 2 })), { granted: true })
})

t.test('a voter refuses older configurations, terms and data', async (t) => {
  const member = new LoneMember(replicaSetConfig(three.members, { version: 3, term: 2 }))
  const { coordinator } = member
  coordinator.progress(2000, at(5, 2), at(5, 2))
  const ask = (changes: Partial<VoteRequest>) =>
    coordinator.answerVoteRequest(2000, request({ term: 3, config: { version: 3, term: 2 }, ...changes }))
  t.match(ask({ config: { version: 9, term: 1 } }), { granted: false, reason: /config with .* is older than mine/ })
  t.match(ask({ lastApplied: at(9, 1).optime }), { granted: false, reason: /data is staler than mine/ })
  t.match(ask({ setName: 'other' }), { granted: false, reason: "candidate's set name (other) differs from mine (rs)" })
  t.match(ask({ lastApplied: at(5, 2).optime }), { granted: true })
  t.match(ask({ term: 2, lastApplied: at(5, 2).optime }), {
    granted: false,
    reason: "candidate's term (2) is lower than mine (3)",
  })
})

t.test('until 5.0 a voter refuses a newer configuration, too', async (t) => {
  const strict = new LoneMember(three, 0, { ...currentRules, votesNeedSameConfig: true })
  const newer = request({ config: { version: 2, term: 0 } })
  t.match(strict.coordinator.answerVoteRequest(2000, newer), { granted: false, reason: /differs from mine/ })
  t.match(new LoneMember(three).coordinator.answerVoteRequest(2000, newer), { granted: true })
})

t.test('an arbiter that sees a healthy primary refuses candidates of the same priority', async (t) => {
  const config = replicaSetConfig([
    memberConfig(0),
    memberConfig(1),
    memberConfig(2, { arbiterOnly: true, priority: 0 }),
  ])
  const arbiter = new LoneMember(config, 2)
  arbiter.advanceTo(2000, (host) => secondaryReply(host === 'm0:1' ? { state: 'PRIMARY' } : {}))
  t.match(arbiter.coordinator.answerVoteRequest(2000, request()), {
    granted: false,
    reason: 'can see a healthy primary (m0:1) of equal or greater priority',
  })
})

t.test('a member with a higher priority takes over one election timeout after the primary appears', async (t) => {
  const config = replicaSetConfig([memberConfig(0, { priority: 5 }), memberConfig(1), memberConfig(2)])
  const member = new LoneMember(config)
  const reply = (host: string) => secondaryReply(host === 'm1:1' ? { state: 'PRIMARY' } : {})
  member.advanceTo(10_999, reply)
  t.equal(member.of('request-vote').length, 0)
  member.advanceTo(11_100, reply)
  t.equal(member.of('request-vote').length, 2)
  t.match(member.coordinator.state.candidacy, { reason: 'priorityTakeover', dryRun: true })
})

t.test('a member that lags by more than two seconds does not take over', async (t) => {
  const config = replicaSetConfig([memberConfig(0, { priority: 5 }), memberConfig(1), memberConfig(2)])
  const member = new LoneMember(config)
  const ahead = { applied: at(9, 0), durable: at(9, 0) }
  member.advanceTo(40_000, (host) => secondaryReply(host === 'm1:1' ? { ...ahead, state: 'PRIMARY' } : ahead))
  t.equal(member.of('request-vote').length, 0)
})

t.test('a frozen member runs for no election before its time is over', async (t) => {
  const member = new LoneMember(three)
  t.notOk(member.coordinator.commands.freeze(member.nowMs, 59) instanceof CommandError)
  member.advanceTo(60_000, () => secondaryReply())
  t.equal(member.of('request-vote').length, 0)
  member.advanceTo(75_000, () => secondaryReply())
  t.not(member.of('request-vote').length, 0)
})

t.test('the only member of a set elects itself at once', async (t) => {
  const member = new LoneMember(replicaSetConfig([memberConfig(0)]))
  member.coordinator.tick(member.nowMs)
  t.match(member.of('election'), [])
  member.finishElection(() => null)
  t.ok(member.coordinator.isWritablePrimary)
  t.strictSame(
    member
      .of('election')
      .map(({ reason, outcome }) => [reason, outcome])
      .at(-1),
    ['singleNodePromptElection', 'won'],
  )
})
