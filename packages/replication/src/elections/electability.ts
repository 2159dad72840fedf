/** Who may be elected. Server: TopologyCoordinator::_getMyUnelectableReason. */
import { isElectable, majorityVoteCount, priorityOf, votesOf } from '../config/replica-set-config.js'
import type { ElectionReason } from '../effects.js'
import type { MemberView } from '../members/member-view.js'
import { compareOpTimes, isNullOpTime, laterOpTime, type OpTime } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'

/** Server parameter priorityTakeoverFreshnessWindowSeconds. */
const takeoverWindowSecs = 2

/** In entries, if both are of one second: a primary whose clock was set back stays in one. */
const takeoverWindowEntries = 1000

export function seesMajority(state: ProtocolState): boolean {
  const { config, members, self } = state
  if (config === null) return false
  let votes = 0
  members.forEach((view, index) => {
    if (view === self || view.up) votes += votesOf(config.members[index]!)
  })
  return votes >= majorityVoteCount(config)
}

/** The newest entry that an available member has reported, or that this one has. */
export function latestKnownOpTime({ peers, self }: ProtocolState): OpTime {
  return peers
    .filter((view) => view.up && view.state !== 'REMOVED')
    .reduce((latest, view) => laterOpTime(latest, view.reported.applied.optime), self.applied.optime)
}

/** @returns reasons in the server's words; empty: this member may run for election */
export function unelectableReasons(state: ProtocolState, reason: ElectionReason): readonly string[] {
  const reasons: string[] = []
  if (isNullOpTime(state.self.applied.optime)) reasons.push('node has no applied oplog entries')
  if (!seesMajority(state)) reasons.push('I cannot see a majority')
  const self = state.selfConfig
  if (self === null) return [...reasons, 'node is not a member of a valid replica set configuration']
  if (self.arbiterOnly) reasons.push('member is an arbiter')
  if (priorityOf(self) <= 0) reasons.push('member has zero priority')
  if (state.frozenUntilMs > state.nowMs) {
    reasons.push(`I am still waiting for stepdown period to end at ${new Date(state.frozenUntilMs).toISOString()}`)
  }
  if (state.memberState !== 'SECONDARY' && !state.isPrimary) reasons.push('member is not currently a secondary')
  if (reason === 'priorityTakeover' && !freshEnoughForPriorityTakeover(state)) {
    reasons.push(
      'member is not caught up enough to the most up-to-date member to call for priority takeover' +
        ` - must be within ${takeoverWindowSecs} seconds`,
    )
  }
  if (reason === 'catchupTakeover' && !freshEnoughForCatchUpTakeover(state)) {
    reasons.push(
      'member is either not the most up-to-date member or not ahead of the primary, and therefore cannot call' +
        ' for catchup takeover',
    )
  }
  return reasons
}

function freshEnoughForPriorityTakeover(state: ProtocolState): boolean {
  const latest = latestKnownOpTime(state)
  const own = state.self.applied.optime
  if (own.term !== latest.term) return false
  return own.ts[0] === latest.ts[0]
    ? own.ts[1] + takeoverWindowEntries >= latest.ts[1]
    : own.ts[0] + takeoverWindowSecs >= latest.ts[0]
}

function freshEnoughForCatchUpTakeover(state: ProtocolState): boolean {
  const own = state.self.applied.optime
  const { primary } = state
  return (
    primary !== null &&
    compareOpTimes(own, latestKnownOpTime(state)) >= 0 &&
    compareOpTimes(own, primary.applied.optime) > 0 &&
    // Otherwise the primary has written in its term, so it has caught up.
    own.term < state.term
  )
}

/** Whether this peer could become primary now, as far as its heartbeats tell. */
export function isPeerElectable(state: ProtocolState, view: MemberView): boolean {
  return isElectable(state.configOf(view)) && view.state === 'SECONDARY' && view.electable
}
