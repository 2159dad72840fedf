/** Statistics in the replies of commands, and the checks of checkMetadataConsistency. */
import { row } from '../row.js'

export const statisticsBehaviours = {
  transportSecurityStatistics: row<boolean>(
    'serverStatus counts the handshakes of each version of TLS.',
    'reference/command/serverStatus, "transportSecurity", new in 4.0.2',
    ['2.6', false],
    ['4.0', true],
  ),
  sizesAreNumbers: row<boolean>(
    'Sizes in listDatabases of a router are int32 below 2^30, double below 2^40, and int64 above; otherwise int64.',
    'bsonobjbuilder.h, appendNumber; cluster_list_databases_cmd.cpp',
    ['2.6', true],
    ['5.0', false],
  ),
  statusHasWritablePrimary: row<boolean>(
    'The section repl of serverStatus has isWritablePrimary; otherwise ismaster.',
    'replication_info.cpp, ReplicationInfoServerStatus of 4.0 and 5.0; that of the last 4.4 is unverified',
    ['2.6', false],
    ['4.4', true],
  ),
  orphansAreCounted: row<boolean>(
    'collStats and $collStats have the number of orphans on a shard.',
    'reference/command/collStats, numOrphanDocs, new in 6.0; storage_stats.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  missingCollectionsHaveStatistics: row<boolean>(
    'collStats of a collection that does not exist has zeros; otherwise it fails without a code.',
    'dbcommands.cpp, CollectionStats, of 4.0 and 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  emptySizesAreNull: row<boolean>(
    'In $shardedDataDistribution, sizes on a shard without documents are null; otherwise 0.',
    'sh.status() of 6.0.21, 7.0.24 and 8.0.3',
    ['2.6', true],
    ['7.0', false],
  ),
  statisticsHaveTotals: row<boolean>(
    'collStats and dbStats have totalSize, the free storage and the requested scale.',
    'reference/command/collStats and dbStats, scaleFactor new in 4.2, totalSize in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  dbStatsSumsExtents: row<boolean>(
    'dbStats on a router has the sums of MMAPv1 (numExtents, fileSize, extentFreeList) and no number of collections.',
    'cluster_db_stats_cmd.cpp, SERVER-26110',
    ['2.6', true],
    ['4.4', false],
  ),
  shardsCountMigrations: row<'not' | 'documents' | 'bytes'>(
    "Counters of migrations in shardingStatistics of a shard's serverStatus: none; documents; also bytes and outcomes.",
    'reference/command/serverStatus, shardingStatistics, new in 4.0; bytes since 5.0.18, 6.0.6 and 6.3.2; sharding_statistics.cpp',
    ['2.6', 'not'],
    ['4.0', 'documents'],
    ['5.0', 'bytes'],
    ['6.0.2', 'documents'],
    ['6.0', 'bytes'],
  ),
  metadataConsistencyFindsMissingCollections: row<boolean>(
    'checkMetadataConsistency finds collections of the catalog that are missing on a shard.',
    'reference/inconsistency-type/MissingLocalCollection, new in 8.0',
    ['2.6', false],
    ['8.0', true],
  ),
}
