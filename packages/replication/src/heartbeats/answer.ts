/** Server: prepareHeartbeatResponseV1, ReplicationCoordinatorImpl::processHeartbeatV1. */
import { compareConfigVersions, uninitializedVersion } from '../config/replica-set-config.js'
import { unelectableReasons } from '../elections/electability.js'
import type { HeartbeatReply, HeartbeatRequest } from '../messages.js'
import { nullTimedOpTime, uninitializedTerm } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { heartbeatNow, watchSilence } from './schedule.js'

export type HeartbeatRefusal = 'set-name' | 'removed' | 'same-id'

export function answerHeartbeat(state: ProtocolState, request: HeartbeatRequest): HeartbeatReply | HeartbeatRefusal {
  const { config, selfConfig, memberState, self, setName, term } = state
  if (request.setName !== setName) return 'set-name'
  const own = config ?? { version: uninitializedVersion, term: uninitializedTerm }
  const isNewer = compareConfigVersions(request.config, own) > 0
  if (request.from !== null && isNewer) heartbeatNow(state, request.from.host)
  if (config !== null && selfConfig === null) return 'removed'
  if (selfConfig !== null && request.from?.id === selfConfig.id) return 'same-id'
  const sender = config?.version === request.config.version ? senderOf(state, request) : null
  if (sender !== null) {
    sender.lastHeartbeatReceivedMs = state.nowMs
    sender.alive(state.nowMs)
    watchSilence(state)
  }
  // During initial sync the data is incomplete: it must not count for writes.
  const counts = memberState !== 'STARTUP2'
  return {
    setName,
    state: memberState,
    term,
    config: own,
    newerConfig: config !== null && compareConfigVersions(config, request.config) > 0 ? config : null,
    primaryId: state.primary?.id ?? null,
    syncingTo: state.syncSource,
    electionTime: state.isPrimary ? state.electionTime : null,
    electable: config !== null && unelectableReasons(state, 'electionTimeout').length === 0,
    applied: counts ? self.applied : nullTimedOpTime,
    durable: counts ? self.durable : nullTimedOpTime,
    committed: state.committed,
  }
}

function senderOf({ peers }: ProtocolState, { from }: HeartbeatRequest) {
  return from === null ? null : (peers.find(({ id }) => id === from.id) ?? null)
}
