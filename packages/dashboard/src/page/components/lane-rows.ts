import type { TimelineItem } from '@shardlab/report'

/** More bars at the same time cover each other in the last row. */
const rowsMax = 8

export interface LaneRows {
  /** Of each item, from 0. */
  readonly rows: readonly number[]
  /** At least 1. */
  readonly count: number
}

/** Bars that overlap are below each other; instants and the background are in the first row. */
export function rowsOf(items: readonly TimelineItem[]): LaneRows {
  const ends: number[] = []
  const rows = items.map(({ fromMs, toMs, tone }) => {
    if (fromMs === toMs || tone === 'soft') return 0
    const free = ends.findIndex((endMs) => endMs <= fromMs)
    const row = free === -1 ? Math.min(ends.length, rowsMax - 1) : free
    ends[row] = Math.max(ends[row] ?? 0, toMs ?? Infinity)
    return row
  })
  return { rows, count: Math.max(1, ends.length) }
}
