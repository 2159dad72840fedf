/** How a primary ends its term. Server: TopologyCoordinator::tryToStartStepDown and callers. */
import type { StepDownError, StepDownReason } from '../effects.js'
import { haveMajorityReached } from '../commit/write-concern.js'
import { priorityOf } from '../config/replica-set-config.js'
import { isPeerElectable } from '../elections/electability.js'
import type { MemberView } from '../members/member-view.js'
import { compareOpTimes } from '../optime.js'
import { announceState, isAlone } from '../state/member-state-change.js'
import type { ProtocolState } from '../state/protocol-state.js'

/** Not by command: nothing can stop it. */
export function beginStepDown(state: ProtocolState, reason: StepDownReason): void {
  if (state.leaderMode === 'stepping-down' || !state.isPrimary) return
  if (state.stepDown !== null) failStepDown(state, 'other-step-down')
  state.leaderMode = 'stepping-down'
  state.topologyChanged()
  state.emit({ kind: 'step-down', reason })
}

export interface StepDownRequest {
  /** The latest moment for secondaries to catch up. */
  readonly waitUntilMs: number
  /** This member runs for no election before. */
  readonly stepDownUntilMs: number
  readonly force: boolean
}

/**
 * By command: writes stop, and the primary waits until a majority and an electable member have its
 * last entry.
 * @returns why not; null: the attempt began
 */
export function attemptStepDown(state: ProtocolState, request: StepDownRequest): 'not-primary' | 'in-progress' | null {
  if (state.leaderMode === 'none') return 'not-primary'
  if (state.stepDown !== null || state.leaderMode === 'stepping-down') return 'in-progress'
  state.stepDown = { ...request, term: state.term, modeBefore: state.leaderMode }
  state.leaderMode = 'attempting-step-down'
  state.topologyChanged()
  state.timers.set('step-down', Math.min(request.waitUntilMs, request.stepDownUntilMs))
  tryStepDown(state)
  return null
}

/** After everything that can let it succeed, and at its deadline. */
export function tryStepDown(state: ProtocolState): void {
  const { stepDown, nowMs } = state
  if (stepDown === null) return
  const isLate = nowMs >= stepDown.waitUntilMs
  if (nowMs >= stepDown.stepDownUntilMs) failStepDown(state, 'too-late')
  else if ((stepDown.force && isLate) || isSafeToStepDown(state)) {
    state.stepDown = null
    state.timers.cancel('step-down')
    state.frozenUntilMs = stepDown.stepDownUntilMs
    state.leaderMode = 'stepping-down'
    state.handsOff = !stepDown.force
    state.emit({ kind: 'step-down', reason: 'command' })
  } else if (isLate) failStepDown(state, 'not-caught-up')
}

function failStepDown(state: ProtocolState, error: StepDownError): void {
  const { modeBefore } = state.stepDown!
  state.stepDown = null
  state.timers.cancel('step-down')
  state.leaderMode = modeBefore
  state.topologyChanged()
  state.emit({ kind: 'step-down-failed', error })
}

function isSafeToStepDown(state: ProtocolState): boolean {
  const last = state.self.applied.optime
  // Nothing was written in this term, so nothing can be lost.
  if (last.term !== state.term) return true
  return haveMajorityReached(state, last) && state.peers.some((view) => isSuccessor(state, view))
}

const isSuccessor = (state: ProtocolState, view: MemberView): boolean =>
  isPeerElectable(state, view) && compareOpTimes(view.applied.optime, state.self.applied.optime) >= 0

/** The operations of the old primary are gone. A configuration that waited is installed next. */
export function steppedDown(state: ProtocolState, reason: StepDownReason): void {
  if (state.leaderMode !== 'stepping-down') return
  state.leaderMode = 'none'
  state.candidateMetrics = null
  state.catchUp = null
  state.timers.cancel('catch-up')
  state.timers.cancel('periodic-noop')
  const primaries = state.members.filter((view) => view !== state.self && view.up && view.state === 'PRIMARY')
  state.primaryIndex = primaries.length === 1 ? state.members.indexOf(primaries[0]!) : -1
  announceState(state)
  if (state.pendingTerm !== null) {
    state.term = Math.max(state.term, state.pendingTerm)
    state.pendingTerm = null
  }
  if (reason === 'command' && state.handsOff) handOff(state)
  if (isAlone(state)) state.timers.set('single-node-election', Math.max(state.nowMs, state.frozenUntilMs))
}

/** The caught-up member of the highest priority, the first one of equal ones. */
function handOff(state: ProtocolState): void {
  let best: MemberView | null = null
  for (const view of state.peers) {
    if (!isSuccessor(state, view)) continue
    if (best === null || priorityOf(state.configOf(view)) > priorityOf(state.configOf(best))) best = view
  }
  if (best !== null) state.emit({ kind: 'step-up', to: best.host })
}
