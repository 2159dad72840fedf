/** Variants that take turns, so that a busy moment of the machine falls upon all of them. */

/** Does its work that many times. */
export type Variant = (times: number) => void

/** Nanoseconds of CPU for one time, of each variant, round by round. */
export function interleaved<Name extends string>(
  variants: Readonly<Record<Name, readonly [variant: Variant, times: number]>>,
  rounds = 9,
): Record<Name, number[]> {
  const names = Object.keys(variants) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const [variant, times] = variants[name]
      const before = process.cpuUsage()
      variant(times)
      const { user, system } = process.cpuUsage(before)
      if (round > 0) samples[name].push(((user + system) * 1000) / times)
    }
  }
  return samples
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** `1.20 (0.90–1.40)`: median, least and most. */
export function spread(values: readonly number[], digits = 2): string {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`
}

/** Round by round, the first divided by the second. */
export function ratios(ours: readonly number[], others: readonly number[]): number[] {
  return ours.map((value, i) => value / others[i]!)
}
