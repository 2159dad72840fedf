/** Which member to fetch the oplog from. Server: TopologyCoordinator::chooseNewSyncSource. */
import { isVoter } from '../config/replica-set-config.js'
import { isReadable } from '../members/member-state.js'
import type { MemberView } from '../members/member-view.js'
import { compareOpTimes, laterOpTime, type OpTime } from '../optime.js'
import type { SourceMetadata } from '../messages.js'
import type { ProtocolState } from '../state/protocol-state.js'

/** Server parameter maxSyncSourceLagSecs. */
const lagSecsMax = 30

/** Server parameter changeSyncSourceThresholdMillis. */
const closerMs = 5

/** Server parameter maxNumSyncSourceChangesPerHour. */
const changesPerHourMax = 3

const hourMs = 3_600_000

/** @returns null: none now; ask again after a second */
export function chooseSyncSource(state: ProtocolState, lastFetched: OpTime): string | null {
  if (state.selfConfig === null) return null
  if (state.requestedSyncSource !== null) {
    const host = state.requestedSyncSource
    state.requestedSyncSource = null
    return take(state, host, 'requested')
  }
  // Two heartbeats of each member show which ones are close and ahead.
  if (state.heartbeatsInConfig < state.peers.length * 2) return setSource(state, null, false)
  // A primary in catch-up takes what it needs from anyone.
  if (!state.settings.chainingAllowed && !state.isPrimary)
    return take(state, primaryAsSource(state, lastFetched), 'primary')
  return take(state, nearest(state, lastFetched), 'nearest')
}

type SourceKind = 'nearest' | 'primary' | 'requested'

function messageOf(state: ProtocolState, host: string | null, kind: SourceKind): string {
  if (host !== null) {
    return kind === 'primary'
      ? `syncing from primary: ${host}`
      : `syncing from: ${host}${kind === 'requested' ? ' by request' : ''}`
  }
  return state.rules.replicationTexts === 'plain'
    ? 'could not find member to sync from'
    : 'Could not find member to sync from'
}

function take(state: ProtocolState, host: string | null, kind: SourceKind): string | null {
  // A missing primary leaves the message as it was.
  if (host !== null || kind === 'nearest') state.message = { text: messageOf(state, host, kind), atMs: state.nowMs }
  return setSource(state, host, kind === 'requested')
}

function setSource(state: ProtocolState, host: string | null, requested: boolean): string | null {
  state.syncSource = host
  state.syncSourceIsRequested = requested
  if (host !== null) {
    state.syncSourceChangesMs.push(state.nowMs)
    if (state.syncSourceChangesMs.length > changesPerHourMax) state.syncSourceChangesMs.shift()
  }
  return host
}

function primaryAsSource(state: ProtocolState, lastFetched: OpTime): string | null {
  const { primary } = state
  if (primary === null || primary === state.self || isDenied(state, primary)) return null
  return compareOpTimes(primary.applied.optime, lastFetched) < 0 ? null : primary.host
}

function nearest(state: ProtocolState, lastFetched: OpTime): string | null {
  for (const strict of [true, false]) {
    const best = state.peers
      .filter((view) => isEligible(state, view, lastFetched, strict))
      .reduce<MemberView | null>((closest, view) => (closest === null ? view : closer(state, closest, view)), null)
    if (best !== null) return best.host
  }
  return null
}

function closer({ rules }: ProtocolState, a: MemberView, b: MemberView): MemberView {
  const difference = (b.ping.averageMs ?? 0) - (a.ping.averageMs ?? 0)
  if (rules.preferPrimarySyncSource && Math.abs(difference) <= closerMs) {
    if (a.state === 'PRIMARY') return a
    if (b.state === 'PRIMARY') return b
  }
  return difference < 0 ? b : a
}

/**
 * @param lastFetched null: the member's own progress does not matter
 * @param strict the first attempt, which also wants a source that is not lagging, hidden, more
 *   delayed or without a vote
 */
function isEligible(state: ProtocolState, view: MemberView, lastFetched: OpTime | null, strict: boolean): boolean {
  if (!view.up || !isReadable(view.state)) return false
  const self = state.selfConfig!
  const member = state.configOf(view)
  if (strict) {
    if (isVoter(self) && !isVoter(member)) return false
    if (member.hidden || member.delaySecs > self.delaySecs) return false
    if (lastFetched !== null && isLagging(state, view)) return false
  }
  if (self.buildIndexes && !member.buildIndexes) return false
  if (lastFetched !== null && compareOpTimes(view.reported.applied.optime, lastFetched) <= 0) return false
  return !isDenied(state, view)
}

function isLagging({ primary }: ProtocolState, view: MemberView): boolean {
  if (primary === null) return false
  const { ts, term } = primary.reported.applied.optime
  if (ts[0] < lagSecsMax) return false
  return compareOpTimes(view.reported.applied.optime, { ts: [ts[0] - lagSecsMax, 0], term }) < 0
}

const isDenied = ({ deniedUntilMs, nowMs }: ProtocolState, { host }: MemberView): boolean =>
  (deniedUntilMs.get(host) ?? 0) > nowMs

/** Do not select this host for a while: it failed, or its oplog begins too late. */
export function denySyncSource({ deniedUntilMs }: ProtocolState, host: string, untilMs: number): void {
  deniedUntilMs.set(host, untilMs)
}

/** After each batch from the current source: is another one better? */
export function shouldChangeSyncSource(state: ProtocolState, lastFetched: OpTime, source: SourceMetadata): boolean {
  const { syncSource, primary, settings } = state
  if (state.selfConfig === null || syncSource === null) return false
  if (state.requestedSyncSource !== null) return true
  const current = state.viewOf(syncSource)
  if (current === null) return true
  const hasNewPrimary = primary !== null && primary !== current && primary !== state.self
  if (!settings.chainingAllowed && !state.isPrimary && !source.isPrimary && hasNewPrimary) return true
  const sourceAt = laterOpTime(source.lastApplied, current.reported.applied.optime)
  const isAhead = compareOpTimes(sourceAt, lastFetched) > 0
  if (!isAhead && source.syncingTo === null && !source.isPrimary) return true
  // In catch-up two members would wait for each other.
  if (!isAhead && source.syncingTo === state.selfHost && state.isPrimary) return true
  return (
    state.peers.some(
      (view) =>
        sourceAt.ts[0] + lagSecsMax < view.reported.applied.optime.ts[0] && isEligible(state, view, lastFetched, true),
    ) ||
    (!isEligible(state, current, null, true) && hasEligible(state, lastFetched)) ||
    hasCloser(state, current, lastFetched)
  )
}

const hasEligible = (state: ProtocolState, lastFetched: OpTime): boolean =>
  state.peers.some((view) => isEligible(state, view, lastFetched, true))

function hasCloser(state: ProtocolState, current: MemberView, lastFetched: OpTime): boolean {
  const { rules, syncSourceIsRequested, followerMode, selfConfig, peers, nowMs } = state
  if (!rules.closerSyncSource || syncSourceIsRequested || followerMode === 'STARTUP2') return false
  if (selfConfig!.delaySecs > 0 || !state.settings.chainingAllowed) return false
  const changes = state.syncSourceChangesMs
  if (changes.length >= changesPerHourMax && changes[0]! > nowMs - hourMs) return false
  if (state.heartbeatsInConfig < peers.length * 5 || current.ping.averageMs === null) return false
  const ping = current.ping.averageMs
  return peers.some(
    (view) =>
      view.ping.averageMs !== null &&
      ping - view.ping.averageMs > closerMs &&
      isEligible(state, view, lastFetched, true),
  )
}
