/** The reply of replSetGetStatus. Server: TopologyCoordinator::prepareStatusResponse. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { majorityVoteCount, voterCount, writableVoterCount, writeMajorityCount } from '../config/replica-set-config.js'
import { memberStates } from '../members/member-state.js'
import { isNullOpTime, type OpTime, type Timestamp } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { writeCandidateMetrics, writeParticipantMetrics } from './metrics-fields.js'
import { writeMembers, writeSource } from './member-fields.js'
import { writeOpTime } from './optime-fields.js'

/** Facts of the host. */
export interface StatusFacts {
  readonly uptimeSecs: number
  /** The newest position that majority reads see, with its time of day. Null: none. */
  readonly majorityReads: { readonly optime: OpTime; readonly wallMs: number } | null
  /** Null: the storage has no such point. */
  readonly stableRecoveryTimestamp: Timestamp | null
  /** Of a running initial sync. */
  readonly initialSyncStatus: Uint8Array | null
  /** Every other member's oplog begins after the end of this one. */
  readonly tooStale: boolean
}

export function statusDocument(state: ProtocolState, facts: StatusFacts): DocumentWriter | CommandError {
  const { config, memberState, rules, term, nowMs, candidateMetrics, participantMetrics } = state
  if (config === null || state.selfConfig === null) {
    return new CommandError('InvalidReplicaSetConfig', 'Our replica set config is invalid or we are not a member of it')
  }
  const layout = rules.replicaSetStatus
  const isOld = layout === 'syncingTo'
  const writer = new DocumentWriter(4096)
    .string('set', config.name)
    .date('date', nowMs)
    .int32('myState', memberStates[memberState])
    .int64('term', term)
  if (facts.tooStale && !isOld) writer.bool('tooStale', true)
  writeSource(writer, state, state.isPrimary ? null : state.syncSource)
  if (config.configServer) writer.bool('configsvr', true)
  writer.int64('heartbeatIntervalMillis', config.settings.heartbeatIntervalMs)
  if (!isOld) {
    writer
      .int32('majorityVoteCount', majorityVoteCount(config))
      .int32('writeMajorityCount', writeMajorityCount(config))
      .int32('votingMembersCount', voterCount(config))
      .int32('writableVotingMembersCount', writableVoterCount(config))
  }
  writer.startDocument('optimes')
  writeOpTimes(writer, state, facts)
  writer.end()
  if (facts.stableRecoveryTimestamp !== null) {
    const [seconds, increment] = facts.stableRecoveryTimestamp
    const name = isOld ? 'lastStableCheckpointTimestamp' : 'lastStableRecoveryTimestamp'
    writer.timestamp(name, seconds, increment)
  }
  if (facts.initialSyncStatus !== null) writer.document('initialSyncStatus', facts.initialSyncStatus)
  if (!isOld && candidateMetrics !== null) writeCandidateMetrics(writer, candidateMetrics, layout === 'written')
  if (!isOld && participantMetrics !== null) writeParticipantMetrics(writer, participantMetrics, layout === 'written')
  writer.startArray('members')
  writeMembers(writer, state, facts.uptimeSecs)
  return writer.end()
}

function writeOpTimes(writer: DocumentWriter, state: ProtocolState, { majorityReads }: StatusFacts): void {
  const { committed, self, rules } = state
  const layout = rules.replicaSetStatus
  const isOld = layout === 'syncingTo'
  writeOpTime(writer, 'lastCommittedOpTime', committed.optime)
  if (!isOld) writer.date('lastCommittedWallTime', committed.wallMs)
  if (majorityReads !== null && !isNullOpTime(majorityReads.optime)) {
    writeOpTime(writer, 'readConcernMajorityOpTime', majorityReads.optime)
    if (layout === 'read concern time') writer.date('readConcernMajorityWallTime', majorityReads.wallMs)
  }
  writeOpTime(writer, 'appliedOpTime', self.applied.optime)
  writeOpTime(writer, 'durableOpTime', self.durable.optime)
  if (isOld) return
  if (layout === 'written') writeOpTime(writer, 'writtenOpTime', self.applied.optime)
  writer.date('lastAppliedWallTime', self.applied.wallMs).date('lastDurableWallTime', self.durable.wallMs)
  if (layout === 'written') writer.date('lastWrittenWallTime', self.applied.wallMs)
}
