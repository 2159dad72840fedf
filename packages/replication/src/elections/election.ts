/** How a member runs for election. Server: replication_coordinator_impl_elect_v1.cpp. */
import { isVoter, majorityVoteCount } from '../config/replica-set-config.js'
import type { ElectionReason } from '../effects.js'
import type { VoteReply } from '../messages.js'
import { becomePrimary } from '../primary/catch-up.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { learnTerm } from '../state/term.js'
import { restartElectionTimer } from './election-timer.js'
import { cancelTakeovers } from './takeovers.js'
import { recordWin } from './election-metrics.js'
import { unelectableReasons } from './electability.js'

/** @returns reasons why this member does not run; empty: it runs */
export function runForElection(state: ProtocolState, reason: ElectionReason): readonly string[] {
  cancelTakeovers(state)
  restartElectionTimer(state)
  if (state.isPrimary) return ['already primary']
  if (state.candidacy !== null) return ['already candidate']
  if (state.storing !== null) return ['processing a configuration change']
  const reasons = unelectableReasons(state, reason)
  if (reasons.length > 0) return reasons
  if (reason === 'stepUpRequestSkipDryRun') startRealElection(state, reason)
  else requestVotes(state, reason, true)
  return []
}

function startRealElection(state: ProtocolState, reason: ElectionReason): void {
  learnTerm(state, state.term + 1)
  state.lastVote = { term: state.term, candidateIndex: state.selfIndex }
  state.candidacy = {
    reason,
    dryRun: false,
    term: state.term,
    pending: new Map(),
    granted: new Set(),
    refusals: [],
  }
  state.emit({ kind: 'store-vote', vote: state.lastVote })
}

/** The own vote is on disk: now others may be asked. */
export function voteStored(state: ProtocolState, term: number): void {
  const { candidacy } = state
  if (candidacy === null || candidacy.dryRun || candidacy.term !== term) return
  if (state.term === term) requestVotes(state, candidacy.reason, false)
  else lose(state, ['another term began'])
}

function requestVotes(state: ProtocolState, reason: ElectionReason, dryRun: boolean): void {
  const { config, selfIndex, term, self, setName } = state
  const candidacy = {
    reason,
    dryRun,
    term,
    pending: new Map<number, string>(),
    granted: new Set<string>(),
    refusals: [],
  }
  state.candidacy = candidacy
  candidacy.granted.add(state.selfHost)
  const request = {
    setName,
    dryRun,
    term,
    candidateIndex: selfIndex,
    config: { version: config!.version, term: config!.term },
    lastApplied: self.applied.optime,
  }
  for (const member of config!.members) {
    if (!isVoter(member) || member.host === state.selfHost) continue
    const id = state.nextRequestId++
    candidacy.pending.set(id, member.host)
    state.emit({ kind: 'request-vote', id, to: member.host, timeoutMs: state.settings.electionTimeoutMs, request })
  }
  countVotes(state)
}

export function voteReplied(state: ProtocolState, id: number, reply: VoteReply): void {
  const { candidacy } = state
  const host = candidacy?.pending.get(id)
  if (candidacy === null || host === undefined) {
    learnTerm(state, reply.term)
    return
  }
  candidacy.pending.delete(id)
  const superseded = reply.term > candidacy.term
  learnTerm(state, reply.term)
  if (superseded) {
    lose(state, [`${host} is in term ${reply.term}`])
    return
  }
  if (reply.granted) {
    candidacy.granted.add(host)
    state.viewOf(host)?.alive(state.nowMs)
  } else candidacy.refusals.push(`${host}: ${reply.reason}`)
  // A primary that does not need to be replaced keeps its place.
  const primaryRefused =
    candidacy.dryRun && candidacy.reason === 'catchupTakeover' && !reply.granted && host === state.primary?.host
  if (primaryRefused) lose(state, candidacy.refusals)
  else countVotes(state)
}

export function voteFailed(state: ProtocolState, id: number, message: string): void {
  const { candidacy } = state
  const host = candidacy?.pending.get(id)
  if (candidacy === null || host === undefined) return
  candidacy.pending.delete(id)
  candidacy.refusals.push(`${host}: ${message}`)
  countVotes(state)
}

function countVotes(state: ProtocolState): void {
  const candidacy = state.candidacy!
  if (state.term !== candidacy.term) {
    lose(state, ['another term began'])
    return
  }
  const needed = majorityVoteCount(state.config!)
  // A catch-up takeover needs the primary's own consent in the dry run.
  const awaitsPrimary =
    candidacy.dryRun &&
    candidacy.reason === 'catchupTakeover' &&
    [...candidacy.pending.values()].includes(state.primary?.host ?? '')
  if (candidacy.granted.size >= needed && !awaitsPrimary) {
    report(state, 'won', candidacy.refusals)
    state.candidacy = null
    if (candidacy.dryRun) startRealElection(state, candidacy.reason)
    else {
      recordWin(state, candidacy.reason)
      becomePrimary(state)
    }
  } else if (candidacy.pending.size === 0) lose(state, candidacy.refusals)
}

/** A configuration by command: this member may not be electable in it. */
export function cancelElection(state: ProtocolState): void {
  lose(state, ['processing a configuration change'])
}

/** Ends the own candidacy, if there is one. */
function lose(state: ProtocolState, refusals: readonly string[]): void {
  if (state.candidacy === null) return
  report(state, 'lost', refusals)
  state.candidacy = null
}

function report(state: ProtocolState, outcome: 'won' | 'lost', refusals: readonly string[]): void {
  const { reason, dryRun, term, granted } = state.candidacy!
  state.emit({
    kind: 'election',
    outcome,
    reason,
    dryRun,
    term,
    votes: granted.size,
    votesNeeded: majorityVoteCount(state.config!),
    refusals: [...refusals],
  })
}
