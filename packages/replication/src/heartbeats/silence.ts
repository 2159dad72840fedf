import { seesMajority } from '../elections/electability.js'
import { beginStepDown } from '../primary/step-down.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { watchSilence } from './schedule.js'

/** A primary without a sign of life from a majority for the election timeout steps down. */
export function checkSilence(state: ProtocolState): void {
  let lost = false
  for (const view of state.peers) {
    if (view.silent || state.nowMs - view.lastUpdateMs < state.settings.electionTimeoutMs) continue
    view.silent = true
    if (!state.isPrimary) continue
    view.down('no response within election timeout period', state.nowMs)
    lost = true
  }
  watchSilence(state)
  if (lost && !seesMajority(state)) beginStepDown(state, 'lost-majority')
}
