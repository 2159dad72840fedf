import type { ProtocolState } from '../state/protocol-state.js'

export const heartbeatTimer = (host: string): string => `heartbeat ${host}`

/** At once, also if one is under way. */
export function heartbeatNow({ timers, nowMs }: ProtocolState, host: string): void {
  timers.set(heartbeatTimer(host), nowMs)
}

/** To everyone, at once. No member counts as silent before the election timeout. */
export function restartHeartbeats(state: ProtocolState): void {
  state.timers.cancelAll('heartbeat ')
  for (const view of state.peers) {
    view.awaitHeartbeat(state.nowMs)
    heartbeatNow(state, view.host)
  }
  watchSilence(state)
}

/** Sets the timer for the member whose silence is longest. */
export function watchSilence({ peers, timers, settings }: ProtocolState): void {
  let earliestMs = Infinity
  for (const view of peers) if (!view.silent && view.lastUpdateMs < earliestMs) earliestMs = view.lastUpdateMs
  if (earliestMs === Infinity) timers.cancel('silence')
  else timers.set('silence', earliestMs + settings.electionTimeoutMs)
}
