/** When a member reports positions to its sync source. Server: SyncSourceFeedback. */
import type { ProtocolState } from '../state/protocol-state.js'

/** On a member that is not primary: a position has changed. */
export function reportPosition(state: ProtocolState): void {
  keepAlive(state)
  if (state.syncSource !== null) state.emit({ kind: 'report-position' })
}

/**
 * Reports again when nothing was reported for a while: a primary would take members that it does
 * not heartbeat often enough for lost.
 */
export function keepAlive({ timers, nowMs, settings }: ProtocolState): void {
  timers.set('keep-alive', nowMs + settings.electionTimeoutMs / 2)
}
