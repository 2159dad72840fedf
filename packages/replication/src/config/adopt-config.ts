/** A newer configuration from another member. Server: _scheduleHeartbeatReconfig and following. */
import type { ProtocolState } from '../state/protocol-state.js'
import { compareConfigVersions, type ReplicaSetConfig } from './replica-set-config.js'

export function adoptConfig(state: ProtocolState, config: ReplicaSetConfig): void {
  if (config.name !== state.setName || state.storing !== null || state.pendingConfig !== null) return
  if (state.config !== null && compareConfigVersions(config, state.config) <= 0) return
  // One change at a time; the next heartbeat brings it again.
  if (state.candidacy !== null) return
  storeConfig(state, config)
}

/** It is installed when it is on disk. */
export function storeConfig(state: ProtocolState, config: ReplicaSetConfig): void {
  state.storing = config
  state.emit({ kind: 'store-config', config })
}
