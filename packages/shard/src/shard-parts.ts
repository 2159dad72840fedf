import type { StorageNode } from '@shardlab/node'
import type { AutoSplitter } from './auto-split/auto-splitter.js'
import type { DdlCoordinators } from './coordinators/ddl-coordinators.js'
import type { DatabaseCopies } from './coordinators/locks/database-copies.js'
import type { ClusterChunkSize } from './membership/chunk-size.js'
import type { CriticalSections } from './metadata/critical-sections.js'
import type { PlacementState } from './metadata/placement-state.js'
import type { SecondaryPlacements } from './metadata/secondary-placements.js'
import type { VersionCheck } from './metadata/version-check.js'
import type { MigrationStatistics } from './migration/migration-statistics.js'
import type { Migrations } from './migration/migrations.js'
import type { QuerySamples } from './query-analysis/query-samples.js'
import type { SizeReports } from './ranges/size-reports.js'
import type { OrphanCounts } from './range-deletion/orphan-counts.js'
import type { RangeDeleter } from './range-deletion/range-deleter.js'
import type { RangeStore } from './ranges/collection-ranges.js'
import type { TransactionCoordinators } from './transactions/transaction-coordinators.js'
import type { Reshardings } from './resharding/participant/reshardings.js'

/** Only files of this folder use all parts; the others use interfaces of `host/`. */
export interface ShardParts {
  readonly node: StorageNode
  readonly placements: PlacementState
  readonly critical: CriticalSections
  readonly databaseCopies: DatabaseCopies
  readonly ddl: DdlCoordinators
  readonly versions: VersionCheck
  /** null: a primary. */
  readonly secondary: SecondaryPlacements | null
  /** Of the transactions whose commits this shard coordinates. */
  readonly coordinators: TransactionCoordinators
  readonly ranges: RangeStore
  readonly rangeDeleter: RangeDeleter
  readonly orphans: OrphanCounts
  /** null: the cluster does not report sizes. */
  readonly sizeReports: SizeReports | null
  readonly chunkSize: ClusterChunkSize
  readonly migrations: Migrations
  readonly migrationStatistics: MigrationStatistics
  readonly reshardings: Reshardings
  readonly autoSplitter: AutoSplitter
  /** Null: this shard samples no queries. */
  readonly samples: QuerySamples | null
}
