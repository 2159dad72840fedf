import type { LiveState } from '../stream/live-state.js'

/** By the clock of the cluster. A manual clock stands still between events. */
export function nowOf({ cluster, events, operations }: LiveState): number {
  const lastMs = Math.max(events.at(-1)?.atMs ?? 0, operations.at(-1)?.atMs ?? 0)
  return cluster?.clock === 'manual' ? lastMs : Math.max(lastMs, Date.now())
}
