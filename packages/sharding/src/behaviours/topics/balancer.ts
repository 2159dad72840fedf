/** The balancer's rounds, and automatic splits and merges. */
import { row } from '../row.js'

export const balancerBehaviours = {
  actionlogHasChangelogFields: row<boolean>(
    'Entries of config.actionlog have the fields of config.changelog; otherwise only server, what, time and details.',
    'type_actionlog.cpp of 2.6; sharding_logging.cpp',
    ['2.6', false],
    ['4.0', true],
  ),
  balancerRoundsHaveTimings: row<boolean>(
    'balancer.round in config.actionlog has errorOccurred in this spelling, the number of imbalanced collections and the duration of each phase.',
    'balancer.cpp, BalanceRoundDetails',
    ['2.6', false],
    ['6.0', true],
  ),
  balancerMigratesInParallel: row<boolean>(
    'A balancer round runs several migrations at a time, between disjoint pairs of shards; otherwise one chunk of each collection, one after the other.',
    'core/sharding-balancer-administration, changed in 3.4',
    ['2.6', false],
    ['4.0', true],
  ),
  balancerPausesWithinRounds: row<boolean>(
    'The balancer pauses between the migrations of a round and starts the next round at once; otherwise it pauses between rounds.',
    'balancer.cpp, balancerMigrationsThrottlingMs',
    ['2.6', false],
    ['6.0', true],
  ),
  balancerStopsAtMissingHashedIndex: row<boolean>(
    'After a migration failed because the index of a hashed shard key is missing, the balancer skips the collection.',
    'balancer.cpp, featureFlagShardKeyIndexOptionalHashedSharding; 5.0.22, 6.0.12 and 7.0.3',
    ['2.6', false],
    ['6.0', true],
  ),
  autoSplit: row<boolean>(
    'Chunks are split while writes make them grow; otherwise only as part of migrations.',
    'core/sharding-data-partitioning, until 6.0.2',
    ['2.6', true],
    ['6.0', false],
  ),
  autoSplitChecksOuterChunksEarlier: row<boolean>(
    'The first and the last chunk are checked for a split after 10% fewer written bytes.',
    'cluster_write.cpp, Chunk::shouldSplit, in versions whose routers count written bytes',
    ['2.6', true],
    ['4.4', false],
  ),
  autoSplitLeavesFullChunks: row<boolean>(
    'Automatic splits leave chunks of the full size, the last of them equal in size. Otherwise they leave chunks of half the size, and no chunk is split into only two.',
    'auto_split_vector.cpp; chunk_splitter.cpp',
    ['2.6', false],
    ['4.4', true],
  ),
  oversizedChunksAreSplitOnce: row<boolean>(
    'A chunk that is too large to move is split at one point; otherwise at all points found.',
    'sharding_catalog_manager_chunk_operations.cpp, splitOrMarkJumbo',
    ['2.6', false],
    ['6.0', true],
  ),
  defragmentationSplitsChunks: row<boolean>(
    'Defragmentation of a collection ends by splitting oversized chunks, even if it is stopped early.',
    'balancer_defragmentation_policy_impl.cpp, kSplitChunks, until 6.0.2',
    ['2.6', true],
    ['6.0', false],
  ),
  defragmentationEstimatesSizes: row<boolean>(
    'Defragmentation estimates the sizes of chunks from the average document size, and only up to the size of a small chunk; otherwise it measures every document.',
    'balancer_defragmentation_policy.cpp, kBigChunkMarker',
    ['2.6', false],
    ['6.0', true],
  ),
  abortedDefragmentationsAreFinished: row<boolean>(
    'When a defragmentation is stopped, the collection stays in the phase finished until the balancer processes it; otherwise in splitChunks.',
    'balancer_defragmentation_policy.cpp, abortCollectionDefragmentation',
    ['2.6', false],
    ['7.0', true],
  ),
  autoMerger: row<boolean>(
    'The balancer merges mergeable chunks automatically.',
    'core/automerger, new in 7.0',
    ['2.6', false],
    ['7.0', true],
  ),
}
