import type { CommandRow } from '@shardlab/actor'
import { replSetGetStatusSpec } from '@shardlab/member'
import { DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'

/** Server: topology_coordinator.cpp, prepareStatusResponse. */
export const replSetGetStatus: CommandRow<NodeInvocation> = {
  ...replSetGetStatusSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D722'],
  summary: 'Describes the replica set, whose only member is its primary.',
  run({ host: { clock, context, primary, role, set, startedAtMs } }) {
    if (set !== null) return answered(set.status())
    const [seconds, increment] = clock.time
    const now = context.now()
    const startedSeconds = Math.floor(startedAtMs / 1000)
    const writer = new DocumentWriter(2048)
      .string('set', role.setName)
      .date('date', now)
      .int32('myState', primary.isPrimary ? 1 : 2)
      .int64('term', primary.term)
      .string('syncSourceHost', '')
      .int32('syncSourceId', -1)
      .int64('heartbeatIntervalMillis', 2000)
    for (const name of ['majorityVoteCount', 'writeMajorityCount', 'votingMembersCount', 'writableVotingMembersCount'])
      writer.int32(name, 1)
    const opTime = (name: string) =>
      writer.startDocument(name).timestamp('ts', seconds, increment).int64('t', primary.term).end()
    writer.startDocument('optimes')
    opTime('lastCommittedOpTime')
    writer.date('lastCommittedWallTime', seconds * 1000)
    for (const name of ['readConcernMajorityOpTime', 'appliedOpTime', 'durableOpTime']) opTime(name)
    writer
      .date('lastAppliedWallTime', seconds * 1000)
      .date('lastDurableWallTime', seconds * 1000)
      .end()
    writer
      .startArray('members')
      .startDocument('0')
      .int32('_id', 0)
      .string('name', context.endpoint)
      .double('health', 1)
      .int32('state', primary.isPrimary ? 1 : 2)
      .string('stateStr', primary.isPrimary ? 'PRIMARY' : 'SECONDARY')
      .int32('uptime', Math.floor((now - startedAtMs) / 1000))
    opTime('optime')
    return writer
      .date('optimeDate', seconds * 1000)
      .date('lastAppliedWallTime', seconds * 1000)
      .date('lastDurableWallTime', seconds * 1000)
      .string('syncSourceHost', '')
      .int32('syncSourceId', -1)
      .string('infoMessage', '')
      .timestamp('electionTime', startedSeconds, 1)
      .date('electionDate', startedSeconds * 1000)
      .int32('configVersion', 1)
      .int32('configTerm', 1)
      .bool('self', true)
      .string('lastHeartbeatMessage', '')
      .end()
      .end()
  },
}
