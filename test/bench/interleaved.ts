/** Variants run in turns, so that a busy moment of the machine affects all of them. */

/** Does its work `times` times. */
export type Variant = (times: number) => void

/** Nanoseconds of CPU per time, of each variant in each round. */
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

/** The first divided by the second, in each round. */
export function ratios(ours: readonly number[], others: readonly number[]): number[] {
  return ours.map((value, i) => value / others[i]!)
}
