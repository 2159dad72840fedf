import type { VariantRun } from '../types.js'

/** Variants run at the same time, so the times of the variants do not add up. */
export function wallTimeMs(runs: readonly VariantRun[]): number {
  if (runs.length === 0) return 0
  return Math.max(...runs.map(({ real }) => real.toMs)) - Math.min(...runs.map(({ real }) => real.fromMs))
}
