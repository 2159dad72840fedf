/** Migrations of ranges between shards. */
import { row } from '../row.js'

export const migrationBehaviours = {
  moveRangeCommand: row<boolean>(
    'There is moveRange, which moves a part of a chunk.',
    'reference/command/moveRange, new in 6.0',
    ['2.6', false],
    ['6.0.2', true],
  ),
  moveRangeBackwards: row<boolean>(
    'moveRange can do without min as it can without max.',
    'SERVER-64926, 7.0; cluster_move_range_cmd.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  moveChunkIsTyped: row<boolean>(
    'Arguments of moveChunk are checked by a generated parser, and what is wrong with them has codes; before, errors had none.',
    'cluster_move_chunk_cmd.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  migrationConflict: row<'migration' | 'chunk' | 'range'>(
    'How a shard that takes part in a migration refuses another one: it cannot start a new migration, or a new balancer operation, while it gives away a chunk, or a range with only one bound.',
    'active_migrations_registry.cpp, constructErrorStatus',
    ['2.6', 'migration'],
    ['5.0', 'chunk'],
    ['6.0.2', 'range'],
  ),
  moveChunkHeedsZones: row<boolean>(
    'moveChunk refuses a shard that drains or lacks the zone of the chunk at once.',
    'balancer_chunk_selection_policy_impl.cpp, checkMoveAllowed',
    ['2.6', false],
    ['4.0', true],
    ['6.0.2', false],
  ),
  moveChunkToSteps: row<number>(
    'Steps of the recipient in the changelog entry moveChunk.to.',
    'migration_destination_manager.cpp; two more since the recipient has a critical section, 5.2',
    ['2.6', 6],
    ['6.0.2', 8],
  ),
  moveChunkChecksThrottle: row<boolean>(
    'moveChunk that is not typed refuses a secondaryThrottle or _secondaryThrottle of another type than bool; where it is typed all arguments are checked.',
    'migration_secondary_throttle_options.cpp, createFromCommand',
    ['2.6', false],
    ['4.0', true],
  ),
  orphanCleanupDelay: row<'none' | 'beside-queries' | 'behind-queries'>(
    'orphanCleanupDelaySecs: from when it counts for a range that open cursors may still read: from the commit, or from the end of the last of them.',
    'orphanCleanupDelaySecs, new in 3.6; metadata_manager.cpp, cleanUpRange of 4.0; range_deletion_util.cpp, range_deleter_service.cpp',
    ['2.6', 'none'],
    ['4.0', 'beside-queries'],
    ['4.4', 'behind-queries'],
  ),
  rangeDeletionWaitsForAllCursors: row<boolean>(
    'A range is deleted when all cursors on its collection are gone that were open at the commit; later only those that leave out orphans.',
    'range_deleter_db_env.cpp, getCursorIds, of 2.6; metadata_manager.cpp, cleanUpRange',
    ['2.6', true],
    ['4.0', false],
  ),
}
