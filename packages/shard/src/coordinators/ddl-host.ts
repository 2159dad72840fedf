import type { ExclusiveSections, ShardHost, Placements, ReceivingRanges } from '../host/host.js'
import type { DdlCoordinators } from './ddl-coordinators.js'
import type { DatabaseMoves } from './locks/database-moves.js'

export interface CoordinatorHost extends ShardHost {
  readonly placements: Placements
  readonly critical: ExclusiveSections
}

export interface DdlHost extends CoordinatorHost {
  readonly ddl: DdlCoordinators
  readonly databaseMoves: DatabaseMoves
  readonly migrations: ReceivingRanges
}
