/** When a scenario's timeline lets the balancer start rounds. */
import type { Scenario } from '../file/parse.js'
import { isFault } from '../file/rules.js'

export interface BalancingPeriod {
  readonly fromMs: number
  readonly toMs: number
}

const dayMs = 86_400_000

/**
 * In order and disjoint. A scenario with a window starts at midnight; a window that ends before it
 * starts reaches over midnight.
 */
export function balancingPeriods({ timeline, duration }: Pick<Scenario, 'timeline' | 'duration'>): BalancingPeriod[] {
  let isOn = true
  let window: { readonly startMs: number; readonly stopMs: number } | null = null
  let sinceMs = 0
  const periods: BalancingPeriod[] = []
  const endAt = (atMs: number): void => {
    if (isOn && atMs > sinceMs) periods.push(...within(window, sinceMs, atMs))
    sinceMs = atMs
  }
  for (const entry of timeline.toSorted((a, b) => a.at - b.at)) {
    if (isFault(entry)) continue
    if (entry.do === 'startBalancer' || entry.do === 'stopBalancer') {
      endAt(entry.at)
      isOn = entry.do === 'startBalancer'
    } else if (entry.do === 'balancerWindow') {
      endAt(entry.at)
      window = { startMs: timeOfDay(entry.start), stopMs: timeOfDay(entry.stop) }
    }
  }
  endAt(duration)
  return joined(periods)
}

/** Index of the last period that has started by then: a migration may end after its window. */
export function periodOf(periods: readonly BalancingPeriod[], atMs: number): number {
  return periods.findLastIndex(({ fromMs }) => fromMs <= atMs)
}

function within(
  window: { readonly startMs: number; readonly stopMs: number } | null,
  fromMs: number,
  toMs: number,
): BalancingPeriod[] {
  if (window === null) return [{ fromMs, toMs }]
  const { startMs, stopMs } = window
  const lengthMs = (stopMs - startMs + dayMs) % dayMs
  const periods: BalancingPeriod[] = []
  for (let day = Math.floor(fromMs / dayMs) - 1; day * dayMs <= toMs; day++) {
    const begin = Math.max(fromMs, day * dayMs + startMs)
    const end = Math.min(toMs, day * dayMs + startMs + lengthMs)
    if (end > begin) periods.push({ fromMs: begin, toMs: end })
  }
  return periods
}

/** A change that keeps the balancer on does not end a period. */
function joined(periods: readonly BalancingPeriod[]): BalancingPeriod[] {
  const all: BalancingPeriod[] = []
  for (const period of periods) {
    const last = all.at(-1)
    if (last !== undefined && last.toMs === period.fromMs) all[all.length - 1] = { ...last, toMs: period.toMs }
    else all.push(period)
  }
  return all
}

function timeOfDay(text: string): number {
  const [hours, minutes] = text.split(':').map(Number) as [number, number]
  return (hours * 60 + minutes) * 60_000
}
