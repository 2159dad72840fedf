import type { Sample } from '../types.js'

/** Instants that a page shows of a run; more of them would make it large, not clearer. */
const rowsMax = 60

/** Evenly chosen samples, the first and the last among them. */
export function rowsOf(samples: readonly Sample[]): readonly Sample[] {
  const every = Math.max(1, Math.ceil((samples.length - 1) / (rowsMax - 1)))
  const rows = samples.filter((_, i) => i % every === 0)
  const last = samples.at(-1)!
  return rows.at(-1) === last ? rows : [...rows, last]
}
