/** Server: prepareHeartbeatRequestV1, processHeartbeatResponse. */
import { learnCommitPoint, advanceCommitPoint } from '../commit/commit-point.js'
import { adoptConfig } from '../config/adopt-config.js'
import { uninitializedVersion } from '../config/replica-set-config.js'
import { restartElectionTimer } from '../elections/election-timer.js'
import { considerTakeover } from '../elections/takeovers.js'
import type { MemberView } from '../members/member-view.js'
import { PingStatistics } from '../members/ping-statistics.js'
import type { HeartbeatReply, HeartbeatRequest } from '../messages.js'
import { initialTerm } from '../optime.js'
import { checkCatchUp } from '../primary/catch-up.js'
import { tryStepDown } from '../primary/step-down.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { reportPosition } from '../sync/keep-alive.js'
import { learnTerm } from '../state/term.js'
import { heartbeatTimer, watchSilence } from './schedule.js'

export function sendHeartbeat(state: ProtocolState, host: string): void {
  const ping = pingOf(state, host)
  const { heartbeatTimeoutMs } = state.settings
  let elapsedMs = state.nowMs - ping.startedAtMs
  if (!ping.trying || elapsedMs >= heartbeatTimeoutMs) {
    ping.start(state.nowMs)
    elapsedMs = 0
  }
  const id = state.nextRequestId++
  state.heartbeats.set(host, id)
  state.emit({ kind: 'heartbeat', id, to: host, timeoutMs: heartbeatTimeoutMs - elapsedMs, request: request(state) })
}

/** Before the member is in its configuration, it heartbeats members that it has no view of. */
function pingOf(state: ProtocolState, host: string): PingStatistics {
  const view = state.viewOf(host)
  if (view !== null) return view.ping
  let ping = state.strangers.get(host)
  if (ping === undefined) state.strangers.set(host, (ping = new PingStatistics()))
  return ping
}

function request({ config, setName, selfConfig, term, primary }: ProtocolState): HeartbeatRequest {
  return {
    setName,
    config: config ?? { version: uninitializedVersion, term: initialTerm },
    term: config === null ? initialTerm : term,
    from: selfConfig === null ? null : { id: selfConfig.id, host: selfConfig.host },
    primaryId: primary?.id ?? null,
  }
}

export function heartbeatReplied(state: ProtocolState, id: number, from: string, reply: HeartbeatReply): void {
  if (!isCurrent(state, id, from)) return
  const ping = pingOf(state, from)
  ping.succeeded(state.nowMs - ping.startedAtMs)
  learnTerm(state, reply.term)
  if (reply.state === 'PRIMARY' && reply.term === state.term) restartElectionTimer(state)
  scheduleNext(state, from, ping)
  if (reply.newerConfig !== null) adoptConfig(state, reply.newerConfig)
  const view = state.viewOf(from)
  if (state.selfConfig === null || view === null) return
  state.heartbeatsInConfig++
  const advanced = view.heartbeat(reply, state.nowMs)
  watchSilence(state)
  learnCommitPoint(state, reply.committed, false)
  // A member that syncs from this one counts on it to pass its position on.
  if (advanced && (state.isPrimary || view.syncingTo === state.selfHost)) memberAdvanced(state)
  countNewMember(state, view)
  findPrimary(state)
  if (reply.applied.optime.term === state.term) state.timers.cancel('catch-up-takeover')
  considerTakeover(state, view)
  tryStepDown(state)
  checkCatchUp(state)
}

export function heartbeatFailed(state: ProtocolState, id: number, from: string, message: string): void {
  if (!isCurrent(state, id, from)) return
  const ping = pingOf(state, from)
  ping.missed()
  const isOver = ping.failed || state.nowMs - ping.startedAtMs >= state.settings.heartbeatTimeoutMs
  scheduleNext(state, from, ping)
  const view = state.viewOf(from)
  if (state.selfConfig === null || view === null || !isOver) return
  view.down(message, state.nowMs)
  findPrimary(state)
  checkCatchUp(state)
}

/** False for an answer to a heartbeat that a later one has replaced. */
function isCurrent({ heartbeats }: ProtocolState, id: number, host: string): boolean {
  if (heartbeats.get(host) !== id) return false
  heartbeats.delete(host)
  return true
}

function scheduleNext(state: ProtocolState, host: string, ping: PingStatistics): void {
  const { settings, nowMs } = state
  const isRetry = ping.trying && nowMs - ping.startedAtMs < settings.heartbeatTimeoutMs
  state.timers.set(heartbeatTimer(host), isRetry ? nowMs : togetherWithOthers(state, nowMs + intervalMs(state)))
}

/** One wake-up sends the heartbeats to all members that answered about the same time. */
function togetherWithOthers({ timers }: ProtocolState, dueMs: number): number {
  return Math.min(dueMs, timers.firstFrom(heartbeatTimer(''), dueMs - togetherMs) ?? dueMs)
}

/** Heartbeats that are due within this time leave together, at the time of the first one. */
const togetherMs = 5

/** Shorter while a member looks for a sync source: it may be the one that the primary needs. */
function intervalMs({ settings, memberState, syncSource, isPrimary }: ProtocolState): number {
  const { heartbeatIntervalMs, electionTimeoutMs } = settings
  if (memberState === 'ARBITER') return Math.min(electionTimeoutMs / 2, heartbeatIntervalMs)
  if (syncSource === null && !isPrimary) return Math.min(electionTimeoutMs / 2, heartbeatIntervalMs / 4)
  return heartbeatIntervalMs
}

/** Of the members that call themselves primary, the one in the newest term. */
function findPrimary(state: ProtocolState): void {
  if (state.isPrimary) return
  let found = -1
  state.members.forEach((view, index) => {
    if (view === state.self || view.state !== 'PRIMARY' || !view.up) return
    if (found === -1 || state.members[found]!.term < view.term) found = index
  })
  if (found === state.primaryIndex) return
  state.primaryIndex = found
  state.topologyChanged()
}

/** A position of any member has advanced. */
export function memberAdvanced(state: ProtocolState): void {
  if (state.isPrimary) {
    advanceCommitPoint(state)
    tryStepDown(state)
  } else reportPosition(state)
}

const synced = new Set(['SECONDARY', 'RECOVERING', 'ROLLBACK'])

function countNewMember(state: ProtocolState, view: MemberView): void {
  if (state.leaderMode !== 'writable' || !state.configOf(view).newlyAdded || !synced.has(view.state)) return
  state.emit({ kind: 'count-new-member', memberId: view.id })
}
