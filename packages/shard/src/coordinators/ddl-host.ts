import type { ExclusiveSections, ShardHost, Placements, ReceivingRanges } from '../host/host.js'
import type { DdlCoordinators } from './ddl-coordinators.js'
import type { DatabaseCopies } from './locks/database-copies.js'

export interface CoordinatorHost extends ShardHost {
  readonly placements: Placements
  readonly critical: ExclusiveSections
  readonly ddl: DdlCoordinators
}

export interface DdlHost extends CoordinatorHost {
  readonly databaseCopies: DatabaseCopies
  readonly migrations: ReceivingRanges
}
