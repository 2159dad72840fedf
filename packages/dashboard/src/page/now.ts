import type { LiveState } from '../stream/live-state.js'

let heldAt: number | null = null

/** @param nowMs what {@link nowOf} returns from now on; null: time passes */
export function holdNow(nowMs: number | null): void {
  heldAt = nowMs
}

/** By the clock of the cluster. A manual clock stands still between events and moves. */
export function nowOf({ cluster, clock, events, operations }: LiveState): number {
  if (heldAt !== null) return heldAt
  const lastMs = Math.max(events.at(-1)?.atMs ?? 0, operations.at(-1)?.atMs ?? 0)
  return Math.max(lastMs, cluster?.clock === 'manual' ? (clock?.nowMs ?? 0) : Date.now())
}
