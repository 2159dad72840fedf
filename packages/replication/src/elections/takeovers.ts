/**
 * A member with a higher priority, or with writes that the new primary lacks, replaces the primary.
 * Server: TopologyCoordinator::_shouldTakeOverPrimary.
 */
import { priorityOf, priorityRank } from '../config/replica-set-config.js'
import type { MemberView } from '../members/member-view.js'
import { compareOpTimes } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { randomElectionDelayMs } from './election-timer.js'

export function cancelTakeovers({ timers }: ProtocolState): void {
  timers.cancel('priority-takeover')
  timers.cancel('catch-up-takeover')
}

/** After a heartbeat of the primary. At most one takeover is scheduled. */
export function considerTakeover(state: ProtocolState, replied: MemberView): void {
  const { primary, selfConfig, config, timers } = state
  if (primary === null || replied !== primary || primary === state.self || primary.term !== state.term) return
  if (selfConfig === null || priorityOf(selfConfig) <= 0 || state.isPrimary) return
  if (timers.at('priority-takeover') !== null || timers.at('catch-up-takeover') !== null) return
  const priority = priorityOf(selfConfig)
  const rank = priorityRank(config!, priority)
  const isHigher = priorityOf(state.configOf(primary)) < priority
  const isAhead = canCatchUpFaster(state, primary)
  if (isAhead && !(isHigher && rank === 0)) {
    timers.set('catch-up-takeover', state.nowMs + state.settings.catchUpTakeoverDelayMs)
  } else if (isHigher) {
    const delayMs = state.settings.electionTimeoutMs * (rank + 1)
    timers.set('priority-takeover', state.nowMs + delayMs + randomElectionDelayMs(state))
  }
}

function canCatchUpFaster({ settings, self, term }: ProtocolState, primary: MemberView): boolean {
  if (settings.catchUpTimeoutMs === 0 || settings.catchUpTakeoverDelayMs < 0) return false
  // An own entry of this term came from the primary, so it has caught up.
  return self.applied.optime.term !== term && compareOpTimes(primary.applied.optime, self.applied.optime) < 0
}
