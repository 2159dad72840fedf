/**
 * A primary without writes appends a no-op, so that secondaries and clients can tell that time has
 * passed. Server: noop_writer.cpp.
 */
import { compareOpTimes } from '../optime.js'
import { isAlone } from '../state/member-state-change.js'
import type { ProtocolState } from '../state/protocol-state.js'

/** Unless it was asked for, a member that is alone has no secondaries that need it. */
export function writesPeriodicNoops(state: ProtocolState): boolean {
  return state.rules.periodicNoops && (state.writesNoopsAlone || !isAlone(state))
}

/** From the first entry of the own term on. */
export function startPeriodicNoops(state: ProtocolState): void {
  if (!writesPeriodicNoops(state)) return
  state.noopLastKnown = state.self.applied.optime
  state.timers.set('periodic-noop', state.nowMs + state.noopIntervalMs)
}

/**
 * Every interval: a no-op unless something was written since the last time. Server:
 * NoopWriter::_writeNoop.
 */
export function checkPeriodicNoop(state: ProtocolState): void {
  if (!state.isPrimary) return
  const { self, noopLastKnown, term } = state
  const isIdle = compareOpTimes(self.applied.optime, noopLastKnown) === 0
  if (isIdle && state.leaderMode === 'writable') state.emit({ kind: 'write-noop', term })
  state.noopLastKnown = self.applied.optime
  state.timers.set('periodic-noop', state.nowMs + state.noopIntervalMs)
}

/** The no-op is in the oplog: it does not count as a write. */
export function noopWritten(state: ProtocolState): void {
  state.noopLastKnown = state.self.applied.optime
}
