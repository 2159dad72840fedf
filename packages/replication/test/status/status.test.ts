import { CommandError, DocumentWriter, fieldsOf, findField, typeName } from '@shardlab/bson'
import { nullTimedOpTime, type HelloOptions, type StatusFacts } from '@shardlab/replication'
import t from 'tap'
import { read, rulesOf, versions } from '../support/documents.js'
import { at, LoneMember, secondaryReply } from '../support/member.js'
import { memberConfig, replicaSetConfig } from '../support/random-run.js'

const facts: StatusFacts = {
  uptimeSecs: 17,
  majorityReads: at(1, 1),
  stableRecoveryTimestamp: [1, 1],
  initialSyncStatus: null,
  tooStale: false,
}

const members = [memberConfig(0), memberConfig(1), memberConfig(4, { arbiterOnly: true, priority: 0 })]

function primaryOf(version: (typeof versions)[number]): LoneMember {
  const config = replicaSetConfig(members, { term: rulesOf(version).configTerm ? 0 : -1 })
  const member = new LoneMember(config, 0, rulesOf(version))
  const { coordinator } = member
  const reply = (host: string) =>
    secondaryReply(host === 'm4:1' ? { state: 'ARBITER', applied: nullTimedOpTime, durable: nullTimedOpTime } : {})
  member.advanceTo(member.nowMs, reply)
  coordinator.stepUp(member.nowMs, 'stepUpRequest')
  member.finishElection(reply)
  return member
}

const statusOf = (member: LoneMember): Uint8Array => {
  const answer = member.coordinator.commands.getStatus(member.nowMs, facts)
  if (answer instanceof CommandError) throw answer
  return answer.finish()
}

const namesOf = (document: Uint8Array, path?: string): string => {
  const value =
    path === undefined ? undefined : path.split('.').reduce<Uint8Array>((d, n) => findField(d, n)!.slice(), document)
  return fieldsOf(value ?? document)
    .map(([name]) => name)
    .join(' ')
}

const fieldsByLayout = {
  syncingTo: {
    top: 'set date myState term syncingTo syncSourceHost syncSourceId heartbeatIntervalMillis optimes lastStableCheckpointTimestamp members',
    optimes: 'lastCommittedOpTime readConcernMajorityOpTime appliedOpTime durableOpTime',
    self: '_id name health state stateStr uptime optime optimeDate syncingTo syncSourceHost syncSourceId infoMessage electionTime electionDate configVersion self lastHeartbeatMessage',
    peer: '_id name health state stateStr uptime optime optimeDurable optimeDate optimeDurableDate lastHeartbeat lastHeartbeatRecv pingMs lastHeartbeatMessage syncingTo syncSourceHost syncSourceId infoMessage configVersion',
  },
  'read concern time': {
    top: 'set date myState term syncSourceHost syncSourceId heartbeatIntervalMillis majorityVoteCount writeMajorityCount votingMembersCount writableVotingMembersCount optimes lastStableRecoveryTimestamp electionCandidateMetrics members',
    optimes:
      'lastCommittedOpTime lastCommittedWallTime readConcernMajorityOpTime readConcernMajorityWallTime appliedOpTime durableOpTime lastAppliedWallTime lastDurableWallTime',
    self: '_id name health state stateStr uptime optime optimeDate lastAppliedWallTime lastDurableWallTime syncSourceHost syncSourceId infoMessage electionTime electionDate configVersion configTerm self lastHeartbeatMessage',
    peer: '_id name health state stateStr uptime optime optimeDurable optimeDate optimeDurableDate lastAppliedWallTime lastDurableWallTime lastHeartbeat lastHeartbeatRecv pingMs lastHeartbeatMessage syncSourceHost syncSourceId infoMessage configVersion configTerm',
  },
  metrics: {
    top: 'set date myState term syncSourceHost syncSourceId heartbeatIntervalMillis majorityVoteCount writeMajorityCount votingMembersCount writableVotingMembersCount optimes lastStableRecoveryTimestamp electionCandidateMetrics members',
    optimes:
      'lastCommittedOpTime lastCommittedWallTime readConcernMajorityOpTime appliedOpTime durableOpTime lastAppliedWallTime lastDurableWallTime',
    self: '_id name health state stateStr uptime optime optimeDate lastAppliedWallTime lastDurableWallTime syncSourceHost syncSourceId infoMessage electionTime electionDate configVersion configTerm self lastHeartbeatMessage',
    peer: '_id name health state stateStr uptime optime optimeDurable optimeDate optimeDurableDate lastAppliedWallTime lastDurableWallTime lastHeartbeat lastHeartbeatRecv pingMs lastHeartbeatMessage syncSourceHost syncSourceId infoMessage configVersion configTerm',
  },
  written: {
    top: 'set date myState term syncSourceHost syncSourceId heartbeatIntervalMillis majorityVoteCount writeMajorityCount votingMembersCount writableVotingMembersCount optimes lastStableRecoveryTimestamp electionCandidateMetrics members',
    optimes:
      'lastCommittedOpTime lastCommittedWallTime readConcernMajorityOpTime appliedOpTime durableOpTime writtenOpTime lastAppliedWallTime lastDurableWallTime lastWrittenWallTime',
    self: '_id name health state stateStr uptime optime optimeDate optimeWritten optimeWrittenDate lastAppliedWallTime lastDurableWallTime lastWrittenWallTime syncSourceHost syncSourceId infoMessage electionTime electionDate configVersion configTerm self lastHeartbeatMessage',
    peer: '_id name health state stateStr uptime optime optimeDurable optimeWritten optimeDate optimeDurableDate optimeWrittenDate lastAppliedWallTime lastDurableWallTime lastWrittenWallTime lastHeartbeat lastHeartbeatRecv pingMs lastHeartbeatMessage syncSourceHost syncSourceId infoMessage configVersion configTerm',
  },
}

t.test('replSetGetStatus has the fields of each version, in order', async (t) => {
  for (const version of versions) {
    const document = statusOf(primaryOf(version))
    const expected = fieldsByLayout[rulesOf(version).replicaSetStatus]
    t.equal(namesOf(document), expected.top, version)
    t.equal(namesOf(document, 'optimes'), expected.optimes, version)
    t.equal(namesOf(document, 'members.0'), expected.self, version)
    t.equal(namesOf(document, 'members.1'), expected.peer, version)
    t.notMatch(namesOf(document, 'members.2'), /optime/, 'an arbiter has no optimes')
    const types = new Map(fieldsOf(document).map(([name, { type }]) => [name, typeName(type)]))
    t.match(
      types,
      new Map([
        ['term', 'long'],
        ['myState', 'int'],
        ['heartbeatIntervalMillis', 'long'],
      ]),
      version,
    )
  }
})

t.test('replSetGetStatus describes an election, and members that are not reachable', async (t) => {
  const member = primaryOf('8.0')
  member.advanceTo(member.nowMs + 5000, (host) =>
    host === 'm1:1' ? secondaryReply({ term: 1, syncingTo: 'm0:1' }) : null,
  )
  const { coordinator } = member
  coordinator.positionsReceived(member.nowMs, {
    term: 1,
    positions: [{ memberId: 1, configVersion: 1, applied: at(1, 1), durable: at(1, 1) }],
  })
  const status = read(statusOf(member))
  t.match(status['electionCandidateMetrics'], {
    lastElectionReason: 'stepUpRequest',
    electionTerm: 1,
    numVotesNeeded: 2,
    priorityAtElection: 1,
    electionTimeoutMillis: 10_000,
    numCatchUpOps: 0,
  })
  t.notOk('priorPrimaryMemberId' in status['electionCandidateMetrics'])
  t.ok(status['electionCandidateMetrics'].wMajorityWriteAvailabilityDate, 'the first entry is on a majority')
  t.match(status['members'], [
    { _id: 0, stateStr: 'PRIMARY', self: true, uptime: 17, syncSourceId: -1 },
    { _id: 1, stateStr: 'SECONDARY', health: 1, syncSourceHost: 'm0:1', syncSourceId: 0 },
    { _id: 4, stateStr: '(not reachable/healthy)', health: 0, state: 8, lastHeartbeatMessage: 'unreachable' },
  ])
})

t.test('a voter remembers the last election it took part in', async (t) => {
  const member = new LoneMember(replicaSetConfig(members), 1, rulesOf('7.0'))
  const { coordinator } = member
  const request = {
    setName: 'rs',
    dryRun: false,
    term: 1,
    candidateIndex: 0,
    config: { version: 1, term: 0 },
    lastApplied: at(1, 0).optime,
  }
  coordinator.answerVoteRequest(member.nowMs, { ...request, term: 0, dryRun: true })
  t.notOk('electionParticipantMetrics' in read(statusOf(member)), 'a dry run does not count')
  coordinator.answerVoteRequest(member.nowMs, request)
  t.match(read(statusOf(member))['electionParticipantMetrics'], {
    votedForCandidate: true,
    electionTerm: 1,
    electionCandidateMemberId: 0,
    voteReason: '',
  })
  coordinator.newTermApplied(member.nowMs + 5, 1, 900)
  t.match(read(statusOf(member))['electionParticipantMetrics'], { newTermStartDate: new Date(900) })
  coordinator.answerVoteRequest(member.nowMs, { ...request, candidateIndex: 2 })
  t.match(read(statusOf(member))['electionParticipantMetrics'], {
    votedForCandidate: false,
    electionCandidateMemberId: 4,
    voteReason: 'already voted for another candidate (m0:1) this term (1)',
  })
})

t.test('a member that is in no configuration has no status', async (t) => {
  const removed = new LoneMember(replicaSetConfig(members), 0, rulesOf('7.0'))
  removed.coordinator.changeConfig(removed.nowMs, replicaSetConfig(members.slice(1), { version: 2 }))
  removed.coordinator.configStored(removed.nowMs)
  const answer = removed.coordinator.commands.getStatus(removed.nowMs, facts)
  t.match(answer, { code: 93, message: 'Our replica set config is invalid or we are not a member of it' })
})

const hello: HelloOptions = {
  legacy: false,
  processId: new Uint8Array(12).fill(1),
  majorityReads: null,
  role: 'none',
  defaultWriteConcern: null,
}

const helloOf = (member: LoneMember, options: Partial<HelloOptions> = {}): Uint8Array => {
  const writer = new DocumentWriter()
  member.coordinator.commands.writeHello(writer, { ...hello, ...options })
  return writer.finish()
}

t.test('hello of a primary has the fields of each version, in order', async (t) => {
  for (const version of versions) {
    const rules = rulesOf(version)
    const document = helloOf(primaryOf(version), { role: 'shard', majorityReads: at(1, 1).optime })
    t.equal(
      namesOf(document),
      (rules.helloTopologyVersion ? 'topologyVersion ' : '') +
        'hosts arbiters setName setVersion isWritablePrimary secondary primary me electionId lastWrite' +
        (rules.implicitMajorityWriteConcern ? ' isImplicitDefaultMajorityWC' : ''),
      version,
    )
    t.equal(namesOf(document, 'lastWrite'), 'opTime lastWriteDate majorityOpTime majorityWriteDate')
    const shown = read(document)
    t.equal(shown['electionId'].toHexString(), '7fffffff0000000000000001')
    if (rules.implicitMajorityWriteConcern) t.equal(shown['isImplicitDefaultMajorityWC'], false, 'arbiters are needed')
  }
})

t.test('hello of shards, and of config servers that have the role of shards, has their write concern', async (t) => {
  const defaultWriteConcern = new DocumentWriter().int32('w', 2).int32('wtimeout', 0).finish()
  for (const version of versions) {
    const { implicitMajorityWriteConcern, configServersAreShardServers } = rulesOf(version)
    const isShown = { shard: implicitMajorityWriteConcern, 'config-server': configServersAreShardServers, none: false }
    for (const [role, shows] of Object.entries(isShown)) {
      const options = { role: role as keyof typeof isShown, defaultWriteConcern }
      const shown = read(helloOf(primaryOf(version), options))
      t.same(
        [shown['isImplicitDefaultMajorityWC'], shown['cwwc']],
        shows ? [false, { w: 2, wtimeout: 0 }] : [undefined, undefined],
      )
    }
  }
})

t.test('hello names the state of every kind of member', async (t) => {
  const config = replicaSetConfig([
    memberConfig(0, { tags: [['dc', 'east']] }),
    memberConfig(1, { priority: 0, hidden: true, delaySecs: 60, buildIndexes: false }),
    memberConfig(2, { arbiterOnly: true, priority: 0 }),
    memberConfig(3, { priority: 0 }),
  ])
  const of = (index: number, legacy = false) => read(helloOf(new LoneMember(config, index), { legacy }))
  t.match(of(0), { isWritablePrimary: false, secondary: true, tags: { dc: 'east' }, me: 'm0:1' })
  t.match(of(1), { passive: true, hidden: true, buildIndexes: false, secondaryDelaySecs: 60 })
  t.match(of(1, true), { ismaster: false, slaveDelay: 60 })
  t.match(of(2), { arbiterOnly: true, secondary: false })
  t.match(of(3), { passive: true, passives: ['m3:1'] })
  t.notOk('primary' in of(0))
})

t.test('hello of a member without a configuration, or removed from it, has no hosts', async (t) => {
  const removed = new LoneMember(replicaSetConfig(members), 0)
  removed.coordinator.changeConfig(removed.nowMs, replicaSetConfig(members.slice(1), { version: 2 }))
  removed.coordinator.configStored(removed.nowMs)
  const rest = 'isWritablePrimary secondary info isreplicaset'
  t.equal(namesOf(helloOf(removed)), `topologyVersion setName ${rest}`)
})

t.test('a primary in catch-up calls itself secondary; in a step-down it is neither', async (t) => {
  const member = new LoneMember(replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2)]))
  const { coordinator } = member
  const ahead = secondaryReply({ applied: at(4, 0), durable: at(4, 0) })
  member.advanceTo(member.nowMs, () => secondaryReply())
  coordinator.stepUp(member.nowMs, 'stepUpRequestSkipDryRun')
  member.finishElection(() => ahead)
  t.match(read(helloOf(member)), { isWritablePrimary: false, secondary: true, primary: 'm0:1' })
  t.equal(coordinator.commands.abortCatchUp(member.nowMs), null)
  member.finishElection(() => ahead)
  t.match(read(helloOf(member)), { isWritablePrimary: true, secondary: false })
  coordinator.commands.stepDown(member.nowMs, { seconds: 60, catchUpSeconds: 10, force: false })
  t.match(read(helloOf(member)), { isWritablePrimary: false, secondary: false })
})

t.test('serverStatus.repl has the names of isMaster until 4.4', async (t) => {
  for (const version of versions) {
    const writer = new DocumentWriter()
    primaryOf(version).coordinator.commands.writeReplStatus(writer, hello, 3)
    const document = read(writer.finish())
    t.match(document, { [rulesOf(version).configIsStructure ? 'isWritablePrimary' : 'ismaster']: true, rbid: 3 })
  }
})

t.test('an awaitable hello waits while the client has the newest topology', async (t) => {
  const member = new LoneMember(replicaSetConfig(members))
  const { coordinator } = member
  const counter = coordinator.state.topologyCounter
  t.equal(coordinator.commands.awaitsTopology({ isOfThisProcess: true, counter }), true)
  t.equal(coordinator.commands.awaitsTopology({ isOfThisProcess: false, counter }), false)
  t.equal(coordinator.commands.awaitsTopology({ isOfThisProcess: true, counter: counter - 1 }), false)
  t.match(coordinator.commands.awaitsTopology({ isOfThisProcess: true, counter: counter + 1 }), { code: 31_382 })
  t.match(coordinator.commands.awaitsTopology({ isOfThisProcess: true, counter: -1 }), { code: 31_372 })
})
