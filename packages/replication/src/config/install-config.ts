/** Server: TopologyCoordinator::updateConfig, ReplicationCoordinatorImpl::_setCurrentRSConfig. */
import { advanceCommitPoint } from '../commit/commit-point.js'
import { cancelTakeovers } from '../elections/takeovers.js'
import { restartElectionTimer } from '../elections/election-timer.js'
import { restartHeartbeats } from '../heartbeats/schedule.js'
import { MemberView } from '../members/member-view.js'
import { initialTerm } from '../optime.js'
import { prepareFirstEntry } from '../primary/catch-up.js'
import { beginStepDown } from '../primary/step-down.js'
import { startPeriodicNoops, writesPeriodicNoops } from '../primary/periodic-noop.js'
import { announceState, isAlone } from '../state/member-state-change.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { keepAlive } from '../sync/keep-alive.js'
import { isElectable, type MemberConfig, type ReplicaSetConfig } from './replica-set-config.js'

/** The configuration is on disk. A primary that it does not allow steps down first. */
export function configStored(state: ProtocolState): void {
  const config = state.storing
  if (config === null) return
  state.storing = null
  const selfHost = state.selfHostIn(config)
  const self = config.members.find(({ host }) => host === selfHost)
  if (state.isPrimary && (self === undefined || !isElectable(self))) {
    state.pendingConfig = config
    beginStepDown(state, 'reconfig')
  } else installConfig(state, config)
}

export function installConfig(state: ProtocolState, config: ReplicaSetConfig): void {
  if (state.config === null) state.term = Math.max(state.term, initialTerm)
  const wasPrimary = state.isPrimary
  state.committedInPreviousConfig = state.committed.optime
  state.config = config
  state.selfHost = state.selfHostIn(config)
  state.selfIndex = config.members.findIndex(({ host }) => host === state.selfHost)
  const members = state.selfIndex === -1 ? [state.self] : config.members.map((member) => viewFor(state, member))
  state.setMembers(members, members[Math.max(0, state.selfIndex)]!)
  state.self.config = { version: config.version, term: config.term }
  state.requestedSyncSource = null
  state.heartbeatsInConfig = 0
  state.strangers.clear()
  // Secondaries find the primary again.
  state.primaryIndex = wasPrimary ? state.selfIndex : -1
  if (state.selfIndex === -1 || !isKnown(state, state.syncSource)) loseSyncSource(state)
  cancelTakeovers(state)
  announceState(state)
  state.topologyChanged()
  restartElectionTimer(state)
  restartHeartbeats(state)
  if (isAlone(state)) {
    state.timers.cancel('keep-alive')
    if (!writesPeriodicNoops(state)) state.timers.cancel('periodic-noop')
  } else if (!state.isPrimary && state.timers.at('keep-alive') === null) keepAlive(state)
  if (!wasPrimary) return
  if (state.leaderMode === 'writable' && state.timers.at('periodic-noop') === null) startPeriodicNoops(state)
  advanceCommitPoint(state)
  prepareFirstEntry(state)
}

/** A member that keeps its id and address keeps what is known of it. */
function viewFor(state: ProtocolState, { id, host }: MemberConfig): MemberView {
  if (host === state.selfHost)
    return state.self.id === id && state.self.host === host ? state.self : renamed(state.self, id, host)
  return state.members.find((view) => view.id === id && view.host === host) ?? new MemberView(id, host)
}

function renamed(self: MemberView, id: number, host: string): MemberView {
  const view = new MemberView(id, host)
  view.applied = self.applied
  view.durable = self.durable
  return view
}

const isKnown = (state: ProtocolState, host: string | null): boolean => host === null || state.viewOf(host) !== null

function loseSyncSource(state: ProtocolState): void {
  if (state.syncSource === null) return
  state.syncSource = null
  state.emit({ kind: 'sync-source-lost' })
}
