/** The balancer's rounds, and splits that nobody asked for. */
import { row } from '../row.js'

export const balancerBehaviours = {
  actionlogIsAChangelog: row<boolean>(
    'Entries of config.actionlog have the fields of those of config.changelog; before, only server, what, time and details.',
    'type_actionlog.cpp of 2.6; sharding_logging.cpp',
    ['2.6', false],
    ['4.0', true],
  ),
  balancerRoundsTellTimes: row<boolean>(
    'balancer.round in config.actionlog tells errorOccurred in this spelling, how many collections were out of balance, and how long each part took.',
    'balancer.cpp, BalanceRoundDetails',
    ['2.6', false],
    ['6.0', true],
  ),
  balancerMigratesInParallel: row<boolean>(
    'A round of the balancer moves several chunks at a time, between pairs of shards; before, one chunk of each collection, one after the other.',
    'core/sharding-balancer-administration, changed in 3.4',
    ['2.6', false],
    ['4.0', true],
  ),
  balancerPausesWithinRounds: row<boolean>(
    'Between migrations the balancer pauses within the round, and the next one follows at once; before, it pauses between rounds.',
    'balancer.cpp, balancerMigrationsThrottlingMs',
    ['2.6', false],
    ['6.0', true],
  ),
  balancerStopsAtMissingHashedIndex: row<boolean>(
    'A collection with a hashed shard key whose index is missing is not balanced any more once a migration has failed for it.',
    'balancer.cpp, featureFlagShardKeyIndexOptionalHashedSharding; 5.0.22, 6.0.12 and 7.0.3',
    ['2.6', false],
    ['6.0', true],
  ),
  autoSplit: row<boolean>(
    'Chunks are split as they grow by writes; afterwards only as part of migrations.',
    'core/sharding-data-partitioning, until 6.0.2',
    ['2.6', true],
    ['6.0', false],
  ),
  autoSplitLooksEarlierAtTheEnds: row<boolean>(
    'The first and the last chunk are looked at after a tenth less has been written to them.',
    'cluster_write.cpp, Chunk::shouldSplit, as long as routers counted',
    ['2.6', true],
    ['4.4', false],
  ),
  splitsLeaveFullChunks: row<boolean>(
    'Splits that nobody asked for leave chunks of the full size, the last ones of equal size; before, chunks of half the size, and none is split in two.',
    'auto_split_vector.cpp; chunk_splitter.cpp',
    ['2.6', false],
    ['4.4', true],
  ),
  oversizedChunksAreSplitOnce: row<boolean>(
    'A chunk that is too large to move is split at one point; before, at all that are found.',
    'sharding_catalog_manager_chunk_operations.cpp, splitOrMarkJumbo',
    ['2.6', false],
    ['6.0', true],
  ),
  defragmentationSplitsChunks: row<boolean>(
    'The defragmentation of a collection ends with splits of the chunks that are too large, also when it is ended early.',
    'balancer_defragmentation_policy_impl.cpp, kSplitChunks, until 6.0.2',
    ['2.6', true],
    ['6.0', false],
  ),
  defragmentationEstimatesSizes: row<boolean>(
    'To defragment a collection, chunks are measured by the average document, and no further than a small chunk reaches; before, document by document.',
    'balancer_defragmentation_policy.cpp, kBigChunkMarker',
    ['2.6', false],
    ['6.0', true],
  ),
  endedDefragmentationsAreFinished: row<boolean>(
    'Whoever ends a defragmentation leaves the collection in phase finished until the balancer notices; before, in splitChunks.',
    'balancer_defragmentation_policy.cpp, abortCollectionDefragmentation',
    ['2.6', false],
    ['7.0', true],
  ),
  autoMerger: row<boolean>(
    'The balancer merges chunks that can be merged by itself.',
    'core/automerger, new in 7.0',
    ['2.6', false],
    ['7.0', true],
  ),
}
