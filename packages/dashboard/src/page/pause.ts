/** Holds what the page shows, so that people can look at a moment. */
import type { LiveState } from '../stream/live-state.js'
import type { ChunkHistory } from './chunk-history.js'
import { holdNow, nowOf } from './now.js'

export interface Moment {
  readonly state: LiveState
  readonly history: ChunkHistory
}

let held: (Moment & { readonly atMs: number }) | null = null

/** The held moment, or what is given. */
export const shownMomentOf = (present: Moment): Moment => held ?? present

/** Milliseconds since the epoch; null: the page is not paused. */
export const heldAtMs = (): number | null => held?.atMs ?? null

/** The state must be ready. */
export function pauseAt({ state, history }: Moment): void {
  const atMs = nowOf(state)
  holdNow(atMs)
  held = { state: state.copy(), history: history.copy(), atMs }
}

export function resume(): void {
  held = null
  holdNow(null)
}
