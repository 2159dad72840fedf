import type { LiveState } from '../stream/live-state.js'

/** Of a manual clock, as the page has moved it; 0: it has not. */
let movedToMs = 0

export function noteMove(nowMs: number): void {
  movedToMs = nowMs
}

/** By the clock of the cluster. A manual clock stands still between events and moves. */
export function nowOf({ cluster, events, operations }: LiveState): number {
  const lastMs = Math.max(events.at(-1)?.atMs ?? 0, operations.at(-1)?.atMs ?? 0)
  return Math.max(lastMs, cluster?.clock === 'manual' ? movedToMs : Date.now())
}
