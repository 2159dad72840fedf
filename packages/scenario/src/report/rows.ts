import type { Sample } from '../types.js'

/** Instants shown on a page. */
const rowsMax = 60

/** Includes the first and the last. */
export function rowsOf(samples: readonly Sample[]): readonly Sample[] {
  const every = Math.max(1, Math.ceil((samples.length - 1) / (rowsMax - 1)))
  const rows = samples.filter((_, i) => i % every === 0)
  const last = samples.at(-1)!
  return rows.at(-1) === last ? rows : [...rows, last]
}
