/** The newest entry that no failover can lose. Server: updateLastCommittedOpTimeAndWallTime. */
import { isVoter, writeMajorityCount } from '../config/replica-set-config.js'
import { recordCommit } from '../elections/election-metrics.js'
import { compareOpTimes, type TimedOpTime } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'

/** On a primary, after a member has advanced. */
export function advanceCommitPoint(state: ProtocolState): void {
  // A newer primary may exist, so this one must not commit any more.
  if (!state.isPrimary || state.leaderMode === 'stepping-down') return
  const { config, members } = state
  const positions: TimedOpTime[] = []
  members.forEach((view, index) => {
    if (isVoter(config!.members[index]!)) positions.push(config!.majorityJournals ? view.durable : view.applied)
  })
  const needed = writeMajorityCount(config!)
  if (positions.length < needed) return
  positions.sort((a, b) => compareOpTimes(b.optime, a.optime))
  const committed = positions[needed - 1]!
  // An entry of an older term may still be replaced although a majority has it.
  if (compareOpTimes(committed.optime, state.firstOpTimeOfTerm) < 0) return
  setCommitPoint(state, committed)
}

/**
 * From another member. Only the sync source is known to have this member's oplog: other members may
 * have another entry at that position.
 */
export function learnCommitPoint(state: ProtocolState, committed: TimedOpTime, fromSyncSource: boolean): void {
  const { selfConfig, self } = state
  if (selfConfig === null || state.isPrimary) return
  if (selfConfig.arbiterOnly || committed.optime.term === self.applied.optime.term) setCommitPoint(state, committed)
  else if (fromSyncSource) {
    setCommitPoint(state, compareOpTimes(committed.optime, self.applied.optime) <= 0 ? committed : self.applied)
  }
}

function setCommitPoint(state: ProtocolState, committed: TimedOpTime): void {
  if (compareOpTimes(committed.optime, state.committed.optime) <= 0) return
  state.committed = committed
  recordCommit(state)
  state.emit({ kind: 'commit-point', committed })
}
