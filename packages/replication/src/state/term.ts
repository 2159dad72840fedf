import { cancelTakeovers } from '../elections/takeovers.js'
import { restartElectionTimer } from '../elections/election-timer.js'
import { beginStepDown } from '../primary/step-down.js'
import type { ProtocolState } from './protocol-state.js'

/**
 * Adopts a higher term. A primary steps down first: it must not appear as the primary of a term it
 * was not elected in.
 * @returns false: not yet, this member is stepping down
 */
export function learnTerm(state: ProtocolState, term: number): boolean {
  if (term <= state.term) return true
  if (state.isPrimary) {
    state.pendingTerm = Math.max(term, state.pendingTerm ?? term)
    beginStepDown(state, 'higher-term')
    return false
  }
  state.term = term
  cancelTakeovers(state)
  restartElectionTimer(state)
  return true
}
