import type { LiveState } from '../stream/live-state.js'

let movedTo: number | null = null

/** Of a manual clock, as the page has moved it; null: it has not. */
export const movedToMs = (): number | null => movedTo

/** @param nowMs null: the page shows another cluster, or the same one after a restart */
export function noteMove(nowMs: number | null): void {
  movedTo = nowMs
}

let heldAt: number | null = null

/** @param nowMs what {@link nowOf} returns from now on; null: time passes */
export function holdNow(nowMs: number | null): void {
  heldAt = nowMs
}

/** By the clock of the cluster. A manual clock stands still between events and moves. */
export function nowOf({ cluster, events, operations }: LiveState): number {
  if (heldAt !== null) return heldAt
  const lastMs = Math.max(events.at(-1)?.atMs ?? 0, operations.at(-1)?.atMs ?? 0)
  return Math.max(lastMs, cluster?.clock === 'manual' ? (movedTo ?? 0) : Date.now())
}
