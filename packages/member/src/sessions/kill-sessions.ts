import type { MemberHost } from '../member-host.js'
import type { RunningOperation } from '../operations/running-operation.js'
import type { SessionPredicate } from './session-patterns.js'

/**
 * Ends cursors and operations; the sessions stay. Server: kill_sessions_local.cpp.
 * @param spared the operation that runs the command
 */
export function killSessionsHere(host: MemberHost, fits: SessionPredicate, spared: RunningOperation): void {
  host.operations.killOfSessions(fits, spared)
  host.killCursorsOfSessions(fits)
}
