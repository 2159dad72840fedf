import { restartElectionTimer } from '../elections/election-timer.js'
import { keepAlive } from '../sync/keep-alive.js'
import type { ProtocolState } from './protocol-state.js'

/** Announces the member's state if it has changed. Runs after everything that can change it. */
export function announceState(state: ProtocolState): void {
  const { announced, memberState } = state
  if (announced === memberState) return
  state.announced = memberState
  state.emit({ kind: 'state', from: announced, to: memberState })
  state.topologyChanged()
  restartElectionTimer(state)
  if (memberState === 'PRIMARY') state.timers.cancel('keep-alive')
  else if (announced === 'PRIMARY' && !isAlone(state)) keepAlive(state)
  if (memberState === 'SECONDARY' && announced !== 'PRIMARY' && isAlone(state)) {
    state.timers.set('single-node-election', state.nowMs)
  }
}

/** The only member of its set needs no vote of others. */
export const isAlone = ({ config, selfIndex }: ProtocolState): boolean =>
  config?.members.length === 1 && selfIndex === 0
