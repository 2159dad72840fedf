import type { EnterableSections, PlacementHost, VersionErrors } from '../host/host.js'
import type { RangeDeleter } from '../range-deletion/range-deleter.js'
import type { RangeStore } from '../ranges/collection-ranges.js'
import type { MigrationStatistics } from './migration-statistics.js'

export interface MigrationHost extends PlacementHost {
  readonly critical: EnterableSections
  readonly versions: VersionErrors
  readonly ranges: RangeStore
  readonly rangeDeleter: RangeDeleter
  readonly migrationStatistics: MigrationStatistics
}
