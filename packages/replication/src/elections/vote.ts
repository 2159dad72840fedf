/** Server: TopologyCoordinator::processReplSetRequestVotes. */
import { compareConfigVersions, configVersionText, priorityOf } from '../config/replica-set-config.js'
import type { VoteReply, VoteRequest } from '../messages.js'
import { compareOpTimes, opTimeText } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { learnTerm } from '../state/term.js'
import { recordVote } from './election-metrics.js'

/**
 * @returns null: this member is stepping down because of the request; ask again when it is done. A
 *   granted vote of a real election is in `lastVote`: store it before the reply is sent.
 */
export function answerVoteRequest(state: ProtocolState, request: VoteRequest): VoteReply | null {
  if (!learnTerm(state, request.term)) return null
  const reason = refusal(state, request)
  if (!request.dryRun) {
    recordVote(state, request, reason)
    if (reason === null) state.lastVote = { term: request.term, candidateIndex: request.candidateIndex }
  }
  return { term: state.term, granted: reason === null, reason: reason ?? '' }
}

/** Null: the vote is granted. */
function refusal(state: ProtocolState, request: VoteRequest): string | null {
  const { config, term, setName, self, lastVote, rules } = state
  if (config === null) return 'my set is not initiated'
  const configs = compareConfigVersions(request.config, config)
  if (rules.votesNeedSameConfig && configs !== 0) {
    return `candidate's config with ${configVersionText(request.config)} differs from mine with ${configVersionText(config)}`
  }
  if (configs < 0) {
    return `candidate's config with ${configVersionText(request.config)} is older than mine with ${configVersionText(config)}`
  }
  if (request.term < term) return `candidate's term (${request.term}) is lower than mine (${term})`
  if (request.setName !== setName) return `candidate's set name (${request.setName}) differs from mine (${setName})`
  if (compareOpTimes(request.lastApplied, self.applied.optime) < 0) {
    return (
      `candidate's data is staler than mine. candidate's last applied OpTime: ${opTimeText(request.lastApplied)}, ` +
      `my last applied OpTime: ${opTimeText(self.applied.optime)}`
    )
  }
  if (!request.dryRun && lastVote.term >= request.term) {
    const voted = config.members[lastVote.candidateIndex]?.host ?? 'unknown'
    return `already voted for another candidate (${voted}) this term (${lastVote.term})`
  }
  return configs === 0 ? betterPrimary(state, request.candidateIndex) : null
}

/**
 * An arbiter that sees a healthy primary refuses candidates that are no better: two members that
 * cannot reach each other would replace each other for ever.
 */
function betterPrimary({ config, members, selfConfig }: ProtocolState, candidateIndex: number): string | null {
  if (selfConfig?.arbiterOnly !== true) return null
  const candidate = config!.members[candidateIndex]
  const priority = candidate === undefined ? 0 : priorityOf(candidate)
  const index = members.findIndex(
    (view, at) =>
      at !== candidateIndex && view.up && view.state === 'PRIMARY' && priorityOf(config!.members[at]!) >= priority,
  )
  return index === -1 ? null : `can see a healthy primary (${members[index]!.host}) of equal or greater priority`
}
