/** Migrations of ranges between shards. */
import { row } from '../row.js'

export const migrationBehaviours = {
  moveRangeCommand: row<boolean>(
    'The command moveRange exists, which moves a part of a chunk.',
    'reference/command/moveRange, new in 6.0',
    ['2.6', false],
    ['6.0.2', true],
  ),
  moveRangeBackwards: row<boolean>(
    'moveRange accepts max without min; otherwise only min without max.',
    'SERVER-64926, 7.0; cluster_move_range_cmd.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  moveChunkIsTyped: row<boolean>(
    'A generated parser checks the arguments of moveChunk, and its errors have codes; otherwise they have none.',
    'cluster_move_chunk_cmd.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  moveChunkNamesUnknownShard: row<boolean>(
    'The error of moveChunk to an unknown shard names the shard and the collection.',
    'cluster_move_chunk_cmd.cpp; plain since its log messages are structured, 4.4',
    ['2.6', true],
    ['4.4', false],
  ),
  migrationConflict: row<'migration' | 'chunk' | 'range'>(
    'The text of the error if a shard takes part in another migration: it cannot start a new migration, or a new balancer operation, while it donates a chunk or a range, which may have only one bound.',
    'active_migrations_registry.cpp, constructErrorStatus',
    ['2.6', 'migration'],
    ['5.0', 'chunk'],
    ['6.0.2', 'range'],
  ),
  moveChunkRespectsZones: row<boolean>(
    'moveChunk fails at once if the shard is draining or is not in the zone of the chunk.',
    'balancer_chunk_selection_policy_impl.cpp, checkMoveAllowed',
    ['2.6', false],
    ['4.0', true],
    ['6.0.2', false],
  ),
  movableRange: row<'1.3 times, capped' | 'twice' | 'twice, at least two'>(
    'A range can move if its number of documents is at most so many times that of a full chunk; capped: and at most 250,001; at least two: however large the documents.',
    'd_migrate.cpp of 2.6; migration_chunk_cloner_source_legacy.cpp, _storeCurrentLocs, of the last 4.0; SERVER-66041, also in 4.4',
    ['2.6', '1.3 times, capped'],
    ['4.0', 'twice'],
    ['4.4', 'twice, at least two'],
  ),
  moveChunkToSteps: row<number>(
    'Number of recipient steps in the changelog entry moveChunk.to.',
    'migration_destination_manager.cpp; two more since the recipient has a critical section, 5.2',
    ['2.6', 6],
    ['6.0.2', 8],
  ),
  moveChunkChecksThrottle: row<boolean>(
    'If moveChunk is not typed, it rejects a secondaryThrottle or _secondaryThrottle that is not a bool. A typed moveChunk checks all arguments.',
    'migration_secondary_throttle_options.cpp, createFromCommand',
    ['2.6', false],
    ['4.0', true],
  ),
  orphanCleanupDelay: row<'none' | 'from-commit' | 'from-last-query'>(
    'For a range that open cursors may still read, the start of orphanCleanupDelaySecs: the commit, or the end of the last of these queries; none: there is no delay.',
    'orphanCleanupDelaySecs, new in 3.6; metadata_manager.cpp, cleanUpRange of 4.0; range_deletion_util.cpp, range_deleter_service.cpp',
    ['2.6', 'none'],
    ['4.0', 'from-commit'],
    ['4.4', 'from-last-query'],
  ),
  rangeDeletionWaitsForAllCursors: row<boolean>(
    'A range is deleted once all cursors on its collection that were open at the commit are closed; otherwise only cursors that filter orphans count.',
    'range_deleter_db_env.cpp, getCursorIds, of 2.6; metadata_manager.cpp, cleanUpRange',
    ['2.6', true],
    ['4.0', false],
  ),
  recoveredRangeDeletionWaitsForCursors: row<boolean>(
    'A range deletion that a new primary finds in config.rangeDeletions also waits for the cursors that were opened on the member before.',
    'migration_util.cpp, submitPendingDeletions, which calls cleanUpRange; range_deleter_service.cpp, _recoverRangeDeletionsOnStepUp, since 7.0',
    ['2.6', true],
    ['7.0', false],
  ),
}
