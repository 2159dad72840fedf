import type { StartParameters } from './parameters/start-parameters.js'

/** What each process of a cluster is started with. Plain data. */
export interface StartOptions {
  /** `--setParameter`. Default: none. */
  readonly setParameter?: StartParameters
  /** Opening another cursor fails with 365 TemporarilyUnavailable. Default 100,000. */
  readonly cursorsMax?: number
}
