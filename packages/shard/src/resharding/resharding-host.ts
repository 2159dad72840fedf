import type { RangeStore } from '../ranges/collection-ranges.js'
import type { EnterableSections, ShardHost, Placements } from '../host/host.js'

export interface ReshardingHost extends ShardHost {
  readonly placements: Placements
  readonly critical: EnterableSections
  readonly ranges: RangeStore
}
