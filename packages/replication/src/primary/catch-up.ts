/**
 * From a won election to the first write. Server: ReplicationCoordinatorImpl::CatchupState,
 * signalDrainComplete.
 */
import type { ReplicaSetConfig } from '../config/replica-set-config.js'
import { restartHeartbeats } from '../heartbeats/schedule.js'
import { MemberView } from '../members/member-view.js'
import { compareOpTimes, laterOpTime, nullOpTime, uninitializedTerm, type OpTime } from '../optime.js'
import { announceState, isAlone } from '../state/member-state-change.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { advanceCommitPoint } from '../commit/commit-point.js'
import { startPeriodicNoops } from './periodic-noop.js'
import { tryStepDown } from './step-down.js'

export function becomePrimary(state: ProtocolState): void {
  state.leaderMode = 'elected'
  state.electionTerm = state.term
  state.electionTime = state.clusterTime()
  state.primaryIndex = state.selfIndex
  state.blockCommits()
  state.syncSource = null
  state.requestedSyncSource = null
  state.syncSourceIsRequested = false
  announceState(state)
  startCatchUp(state)
}

/** A copy of the only member of a set. Its log has the first entry of the term already. */
export function resumePrimary(state: ProtocolState, config: ReplicaSetConfig, term: number): void {
  state.term = term
  state.electionTerm = term
  state.config = config
  state.selfIndex = 0
  const self = new MemberView(config.members[0]!.id, state.selfHost)
  self.config = { version: config.version, term: config.term }
  state.setMembers([self], self)
  state.primaryIndex = 0
  state.followerMode = 'SECONDARY'
  state.leaderMode = 'writable'
  state.announced = 'PRIMARY'
  state.topologyCounter = 1
}

/** Asks everyone how far they are; entries that others have would be rolled back otherwise. */
function startCatchUp(state: ProtocolState): void {
  const { catchUpTimeoutMs } = state.settings
  if (catchUpTimeoutMs === 0 || isAlone(state)) {
    drain(state)
    return
  }
  state.catchUp = { target: null }
  state.candidateMetrics!.catchUpOps = 0
  if (catchUpTimeoutMs > 0) state.timers.set('catch-up', state.nowMs + catchUpTimeoutMs)
  restartHeartbeats(state)
}

/** After every heartbeat and every applied entry. */
export function checkCatchUp(state: ProtocolState): void {
  if (state.catchUp === null) return
  const target = newestSinceRestart(state)
  if (target === null) return
  state.catchUp.target = laterOpTime(state.catchUp.target ?? nullOpTime, target)
  if (compareOpTimes(target, state.self.applied.optime) <= 0) endCatchUp(state)
  else state.candidateMetrics!.targetCatchUp = state.catchUp.target
}

/** Null: a member has not answered since the election. */
function newestSinceRestart({ peers }: ProtocolState): OpTime | null {
  let newest = nullOpTime
  for (const view of peers) {
    if (!view.wasChecked) return null
    if (view.up) newest = laterOpTime(newest, view.reported.applied.optime)
  }
  return newest
}

/** Also when the time for it is over: entries that were not fetched are then rolled back. */
export function endCatchUp(state: ProtocolState): void {
  if (state.catchUp === null) return
  state.catchUp = null
  state.timers.cancel('catch-up')
  state.emit({ kind: 'sync-source-lost' })
  drain(state)
}

function drain(state: ProtocolState): void {
  state.emit({ kind: 'drain', term: state.term })
}

/** Everything that was fetched is applied. */
export function drained(state: ProtocolState, term: number): void {
  if (!state.isPrimary || state.catchUp !== null || state.term !== term) return
  state.drainedTerm = term
  prepareFirstEntry(state)
}

/** Also after a configuration was stored. */
export function prepareFirstEntry(state: ProtocolState): void {
  const { config, rules, term } = state
  if (!state.isPrimary || state.drainedTerm !== term || state.storing !== null || state.pendingConfig !== null) return
  // A forced configuration has no term, and keeps none.
  if (rules.configTerm && config!.term !== uninitializedTerm && config!.term < term) {
    // Other members prefer this configuration to one that an older primary did not spread.
    state.storing = { ...config!, term }
    state.emit({ kind: 'store-config', config: state.storing })
    return
  }
  state.drainedTerm = null
  state.emit({ kind: 'write-first-entry', term })
}

/** The first entry of the own term is in the oplog: writes are accepted from now on. */
export function firstEntryWritten(state: ProtocolState, optime: OpTime): void {
  if (!state.isPrimary || optime.term !== state.term) return
  state.firstOpTimeOfTerm = optime
  const { self, candidateMetrics, nowMs } = state
  const isApplied = compareOpTimes(self.applied.optime, optime) === 0
  if (candidateMetrics !== null) candidateMetrics.newTermStartMs = isApplied ? self.applied.wallMs : nowMs
  if (state.leaderMode === 'elected') state.leaderMode = 'writable'
  if (state.stepDown?.modeBefore === 'elected') state.stepDown = { ...state.stepDown, modeBefore: 'writable' }
  state.topologyChanged()
  advanceCommitPoint(state)
  startPeriodicNoops(state)
  tryStepDown(state)
}
