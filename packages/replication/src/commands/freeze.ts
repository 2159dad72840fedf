/** The command replSetFreeze. Server: prepareFreezeResponse. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { isAlone } from '../state/member-state-change.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { uninitializedFault, type CommandAnswer } from './answer.js'

/** @param seconds 0: unfreeze */
export function freeze(state: ProtocolState, seconds: number): CommandAnswer {
  const fault = uninitializedFault(state)
  if (fault !== null) return fault
  if (state.isPrimary || state.candidacy !== null) {
    const role = state.isPrimary ? 'Primary' : 'Running-Election'
    return new CommandError(
      'NotSecondary',
      state.rules.replicationTexts === 'plain'
        ? `cannot freeze node when primary or running for election. state: ${role}`
        : `Cannot freeze node when primary or running for election, state: ${role}`,
    )
  }
  const writer = new DocumentWriter(128)
  if (seconds === 0) {
    state.frozenUntilMs = state.nowMs
    if (isAlone(state)) state.timers.set('single-node-election', state.nowMs)
    return writer.string('info', 'unfreezing')
  }
  state.frozenUntilMs = Math.max(state.frozenUntilMs, state.nowMs + seconds * 1000)
  return seconds === 1 ? writer.string('warning', 'you really want to freeze for only 1 second?') : writer
}
