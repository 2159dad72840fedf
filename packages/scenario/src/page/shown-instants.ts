import type { Sample } from '../types.js'

/** Instants shown on a page. */
const instantsMax = 60

/** Includes the first and the last. */
export function shownInstants(samples: readonly Sample[]): readonly Sample[] {
  const every = Math.max(1, Math.ceil((samples.length - 1) / (instantsMax - 1)))
  const shown = samples.filter((_, i) => i % every === 0)
  const last = samples.at(-1)!
  return shown.at(-1) === last ? shown : [...shown, last]
}
