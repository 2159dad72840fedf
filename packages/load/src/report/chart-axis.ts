export interface Axis {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

/** @param limits of a vertical axis; null: the axis has the range of its values */
export function axis(
  values: readonly number[],
  scale: 'linear' | 'log',
  from: number,
  to: number,
  wanted?: readonly number[],
  limits: { readonly low: number; readonly whole: boolean } | null = null,
): Axis {
  if (scale === 'log') {
    const positive = values.filter((value) => value > 0)
    const low = Math.min(...positive, 1e9)
    const high = Math.max(...positive, low * 1.0001)
    const [a, b] =
      wanted === undefined ? [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))] : [low, high]
    const span = Math.max(1e-9, Math.log(b) - Math.log(a))
    const ticks: number[] = []
    for (let tick = a; tick <= b * 1.0001; tick *= 10) ticks.push(tick)
    return {
      at: (value) => from + ((to - from) * (Math.log(Math.max(value, a)) - Math.log(a))) / span,
      ticks: wanted ?? ticks,
    }
  }
  const low = limits === null ? Math.min(...values) : limits.low
  // Equal values must not fill the axis with their rounding errors.
  const top = Math.max(...values, low + Math.max(1e-9, low / 20))
  const step = Math.max(limits?.whole === true ? 1 : 0, roundStep((top - low) / 5))
  const high = limits === null ? top : Math.max(low + step, Math.ceil(top / step) * step)
  const ticks: number[] = []
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) ticks.push(tick)
  return { at: (value) => from + ((to - from) * (value - low)) / Math.max(1e-9, high - low), ticks: wanted ?? ticks }
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)))
  const factor = rough / power
  return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10)
}
