import type { ReshardingSource } from '../../ranges/collection-ranges.js'

export interface ReshardingDonor {
  readonly recipients: readonly string[]
  readonly startedAtMs: number
  readonly source: ReshardingSource
}
