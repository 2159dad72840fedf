/** The commands replSetStepUp and replSetAbortPrimaryCatchUp. Server: stepUpIfEligible. */
import { CommandError } from '@shardlab/bson'
import { runForElection } from '../elections/election.js'
import { endCatchUp } from '../primary/catch-up.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { uninitializedFault } from './answer.js'

/**
 * An election begins, unless this member may not run or already does; the reply waits for its end.
 * @returns null: ask `stepUpResult` when no election runs
 */
export function stepUpByCommand(state: ProtocolState, skipDryRun: boolean): CommandError | null {
  const fault = uninitializedFault(state)
  if (fault !== null) return fault
  runForElection(state, skipDryRun ? 'stepUpRequestSkipDryRun' : 'stepUpRequest')
  return null
}

/** @returns null: this member is primary */
export function stepUpResult({ isPrimary, leaderMode }: ProtocolState): CommandError | null {
  if (!isPrimary) return new CommandError('CommandFailed', 'Election failed.')
  return leaderMode === 'attempting-step-down' || leaderMode === 'stepping-down'
    ? new CommandError('CommandFailed', 'Election failed due to concurrent stepdown.')
    : null
}

/** @returns null: done */
export function abortCatchUp(state: ProtocolState): CommandError | null {
  const fault = uninitializedFault(state)
  if (fault !== null) return fault
  if (state.catchUp === null) return new CommandError('IllegalOperation', 'The node is not in catch-up mode.')
  endCatchUp(state)
  return null
}
