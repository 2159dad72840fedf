import type { EnterableSections, ShardHost, Placements, PreparedDocuments } from '../host/host.js'

/** What a participant of a resharding uses of the shard. */
export interface ReshardingHost extends ShardHost {
  readonly placements: Placements
  readonly critical: EnterableSections
  readonly preparedInserts: PreparedDocuments
}
