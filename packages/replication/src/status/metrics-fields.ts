/** Server: election_candidate_metrics.idl, election_participant_metrics.idl. */
import type { DocumentWriter } from '@shardlab/bson'
import type { CandidateMetrics, ParticipantMetrics } from '../elections/metrics-types.js'
import { writeOpTime } from './optime-fields.js'

export function writeCandidateMetrics(writer: DocumentWriter, metrics: CandidateMetrics, hasWritten: boolean): void {
  writer
    .startDocument('electionCandidateMetrics')
    .string('lastElectionReason', metrics.reason)
    .date('lastElectionDate', metrics.wonAtMs)
    .int64('electionTerm', metrics.term)
  writeOpTime(writer, 'lastCommittedOpTimeAtElection', metrics.committed)
  if (hasWritten) writeOpTime(writer, 'lastSeenWrittenOpTimeAtElection', metrics.lastSeen)
  writeOpTime(writer, 'lastSeenOpTimeAtElection', metrics.lastSeen)
  writer
    .int32('numVotesNeeded', metrics.votesNeeded)
    .double('priorityAtElection', metrics.priority)
    .int64('electionTimeoutMillis', metrics.electionTimeoutMs)
  if (metrics.priorPrimaryId !== null) writer.int32('priorPrimaryMemberId', metrics.priorPrimaryId)
  if (metrics.targetCatchUp !== null) writeOpTime(writer, 'targetCatchupOpTime', metrics.targetCatchUp)
  if (metrics.catchUpOps !== null) writer.int64('numCatchUpOps', metrics.catchUpOps)
  if (metrics.newTermStartMs !== null) writer.date('newTermStartDate', metrics.newTermStartMs)
  if (metrics.majorityWritesFromMs !== null) {
    writer.date('wMajorityWriteAvailabilityDate', metrics.majorityWritesFromMs)
  }
  writer.end()
}

export function writeParticipantMetrics(
  writer: DocumentWriter,
  metrics: ParticipantMetrics,
  hasWritten: boolean,
): void {
  writer
    .startDocument('electionParticipantMetrics')
    .bool('votedForCandidate', metrics.granted)
    .int64('electionTerm', metrics.term)
    .date('lastVoteDate', metrics.votedAtMs)
    .int32('electionCandidateMemberId', metrics.candidateId)
    .string('voteReason', metrics.reason)
  if (hasWritten) {
    writeOpTime(writer, 'lastWrittenOpTimeAtElection', metrics.applied)
    writeOpTime(writer, 'maxWrittenOpTimeInSet', metrics.latest)
  }
  writeOpTime(writer, 'lastAppliedOpTimeAtElection', metrics.applied)
  writeOpTime(writer, 'maxAppliedOpTimeInSet', metrics.latest)
  writer.double('priorityAtElection', metrics.priority)
  if (metrics.newTermStartMs !== null) writer.date('newTermStartDate', metrics.newTermStartMs)
  if (metrics.newTermAppliedMs !== null) writer.date('newTermAppliedDate', metrics.newTermAppliedMs)
  writer.end()
}
