/**
 * A voter that a primary has added has no vote until its initial sync is done; then the primary
 * changes the configuration again. Server: _reconfigToRemoveNewlyAddedField.
 */
import type { ProtocolState } from '../state/protocol-state.js'
import { configCommitment } from './reconfig.js'
import type { ReplicaSetConfig } from './replica-set-config.js'

/** @returns the configuration in which the member counts; null: not now, the effect repeats */
export function countedMember(state: ProtocolState, memberId: number): ReplicaSetConfig | null {
  const { config, leaderMode, storing, pendingConfig, pendingTerm, term } = state
  if (config === null || leaderMode !== 'writable') return null
  if (storing !== null || pendingConfig !== null || pendingTerm !== null) return null
  if (configCommitment(state) !== 'committed') return null
  if (!config.members.some(({ id, newlyAdded }) => id === memberId && newlyAdded)) return null
  return {
    ...config,
    version: config.version + 1,
    term,
    members: config.members.map((member) => (member.id === memberId ? { ...member, newlyAdded: false } : member)),
  }
}
