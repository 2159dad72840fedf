/** What replSetGetStatus says about elections. Server: replication_metrics.cpp. */
import { majorityVoteCount, priorityOf } from '../config/replica-set-config.js'
import type { ElectionReason } from '../effects.js'
import type { VoteRequest } from '../messages.js'
import { compareOpTimes } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { latestKnownOpTime } from './electability.js'

export function recordWin(state: ProtocolState, reason: ElectionReason): void {
  const { config, selfConfig, settings, term, nowMs, committed, primary } = state
  state.candidateMetrics = {
    reason,
    wonAtMs: nowMs,
    term,
    committed: committed.optime,
    lastSeen: latestKnownOpTime(state),
    votesNeeded: majorityVoteCount(config!),
    priority: priorityOf(selfConfig!),
    electionTimeoutMs: settings.electionTimeoutMs,
    priorPrimaryId: primary?.id ?? null,
    targetCatchUp: null,
    catchUpOps: null,
    newTermStartMs: null,
    majorityWritesFromMs: null,
  }
}

/** Granted or refused, in a real election. */
export function recordVote(state: ProtocolState, request: VoteRequest, refusal: string | null): void {
  const { config, selfConfig, nowMs, self } = state
  const candidate = config?.members[request.candidateIndex]
  if (candidate === undefined || selfConfig === null) return
  state.participantMetrics = {
    granted: refusal === null,
    term: request.term,
    votedAtMs: nowMs,
    candidateId: candidate.id,
    reason: refusal ?? '',
    applied: self.applied.optime,
    latest: latestKnownOpTime(state),
    priority: priorityOf(selfConfig),
    newTermStartMs: null,
    newTermAppliedMs: null,
  }
}

/** A secondary has applied the first entry of a term. */
export function recordNewTerm({ participantMetrics, nowMs }: ProtocolState, term: number, startMs: number): void {
  if (participantMetrics?.term !== term) return
  participantMetrics.newTermStartMs = startMs
  participantMetrics.newTermAppliedMs = nowMs
}

/** After the commit point has advanced. */
export function recordCommit({ candidateMetrics, committed, firstOpTimeOfTerm, nowMs }: ProtocolState): void {
  if (candidateMetrics === null || candidateMetrics.majorityWritesFromMs !== null) return
  if (compareOpTimes(committed.optime, firstOpTimeOfTerm) >= 0) candidateMetrics.majorityWritesFromMs = nowMs
}
