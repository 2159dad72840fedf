/** The command replSetMaintenance. Server: setMaintenanceMode. */
import { CommandError } from '@shardlab/bson'
import { announceState } from '../state/member-state-change.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { uninitializedFault } from './answer.js'

/** @returns null: done */
export function setMaintenance(state: ProtocolState, on: boolean): CommandError | null {
  const fault = uninitializedFault(state)
  if (fault !== null) return fault
  if (state.candidacy !== null) return new CommandError('NotSecondary', 'currently running for election')
  if (state.isPrimary) return new CommandError('NotSecondary', "primaries can't modify maintenance mode")
  if (!on && state.maintenanceCalls === 0) {
    return new CommandError('OperationFailed', 'already out of maintenance mode')
  }
  state.maintenanceCalls += on ? 1 : -1
  announceState(state)
  return null
}
