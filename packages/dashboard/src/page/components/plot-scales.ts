/** Ranges and ticks of axes. */
import type { Axis } from '@shardlab/report'
import type uPlot from 'uplot'

const secondsOfTicks = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200],
  ...[86_400, 172_800, 432_000, 864_000, 1_728_000, 4_320_000, 8_640_000],
]
const timeSteps = secondsOfTicks.map((seconds) => seconds * 1000)
const wholeSteps = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((factor) => factor * 10 ** power)).flat()

/** Steps between ticks: the smallest that has room is used. undefined: round numbers. */
export function stepsOf({ format }: Axis): number[] | undefined {
  if (format === 'milliseconds' || format === 'clock') return timeSteps
  return format === 'integer' ? wholeSteps : undefined
}

const factors = [1, 2, 5, 10]

/** 1, 2 or 5 times a power of ten: the largest that is not above the value. */
function roundBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9)
  return power * factors.findLast((factor) => factor * power <= value * 1.000_001)!
}

function roundAbove(value: number): number {
  const below = roundBelow(value)
  if (below >= value * 0.999_999) return below
  const power = 10 ** Math.floor(Math.log10(below) + 1e-9)
  return power * factors.find((factor) => factor * power > below * 1.000_001)!
}

const isPowerOfTen = (value: number): boolean => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9

/** Between both, 1, 2 and 5 times each power of ten, or over a long range the powers alone. */
export function logTicks(from: number, to: number): number[] {
  const isLong = to / from > 400
  const ticks: number[] = []
  for (let tick = roundBelow(from); tick <= to * 1.000_001; tick = roundAbove(tick * 1.01))
    if (tick >= from * 0.999_999 && (!isLong || isPowerOfTen(tick))) ticks.push(tick)
  return ticks
}

/** @param isVertical its end has some room above the highest value */
export function rangeOf(axis: Axis, isVertical: boolean): uPlot.Range.Function {
  return (_, low, high) => {
    // Without a visible line there are no values.
    if (low === null || high === null || !Number.isFinite(low)) return axis.scale === 'log' ? [1, 10] : [0, 1]
    if (axis.scale === 'log') {
      if (axis.ticks !== undefined) return low === high ? [low / 1.5, high * 1.5] : [low, high]
      const [from, to] = [roundBelow(low), roundAbove(high)]
      return from === to ? [from, roundAbove(to * 1.01)] : [from, to]
    }
    if (!isVertical) {
      const [from, to] = [axis.from ?? low, Math.max(high, axis.to ?? high)]
      return from === to ? [from, from + 1] : [from, to]
    }
    const from = Math.min(axis.from ?? 0, low)
    const leastSpan = axis.format === 'integer' ? 1 : Math.max(1e-6, Math.abs(from) / 20)
    return [from, Math.max(axis.to ?? from, from + Math.max(leastSpan, (high - from) * 1.05))]
  }
}
