import { isElectable } from '../config/replica-set-config.js'
import type { ProtocolState } from '../state/protocol-state.js'

/** Server parameter electionTimeoutOffsetLimitFraction. */
const randomShare = 0.15

/** Keeps members from running for election at the same time. */
export function randomElectionDelayMs({ settings, random }: ProtocolState): number {
  return Math.floor(random() * settings.electionTimeoutMs * randomShare)
}

/** The primary has given a sign of life: only members that can win wait for its next one. */
export function restartElectionTimer(state: ProtocolState): void {
  const { timers, selfConfig, memberState, nowMs, settings } = state
  if (selfConfig === null || memberState !== 'SECONDARY' || !isElectable(selfConfig)) timers.cancel('election')
  else timers.set('election', nowMs + settings.electionTimeoutMs + randomElectionDelayMs(state))
}
