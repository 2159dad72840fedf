import type { ActorContext } from '@shardlab/actor'
import type { StartOptions } from '@shardlab/member'
import { StorageNode, type NodeOfSet, type SetOptions, type StorageNodeOptions } from '@shardlab/node'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { AutoSplitter } from './auto-split/auto-splitter.js'
import { adoptRename } from './coordinators/collections/rename-collection.js'
import { DdlCoordinators } from './coordinators/ddl-coordinators.js'
import { DatabaseCopies } from './coordinators/locks/database-copies.js'
import { DdlLocks } from './coordinators/locks/ddl-locks.js'
import { ShardIdentity } from './membership/identity.js'
import { ClusterChunkSize } from './membership/chunk-size.js'
import { CriticalSections } from './metadata/critical-sections.js'
import { PlacementState } from './metadata/placement-state.js'
import { SecondaryPlacements } from './metadata/secondary-placements.js'
import { TransactionCoordinators } from './transactions/transaction-coordinators.js'
import { VersionCheck } from './metadata/version-check.js'
import { MigrationStatistics } from './migration/migration-statistics.js'
import { Migrations } from './migration/migrations.js'
import { QuerySamples } from './query-analysis/query-samples.js'
import { OrphanCounts } from './range-deletion/orphan-counts.js'
import { RangeDeleter } from './range-deletion/range-deleter.js'
import { SizeReports } from './ranges/size-reports.js'
import type { MeasuredOptions } from './ranges/measured/measured-options.js'
import { MeasuredRangeStore } from './ranges/measured/measured-range-store.js'
import { StoredRangeStore } from './ranges/stored/stored-range-store.js'
import { Reshardings } from './resharding/participant/reshardings.js'
import type { ShardParts } from './shard-parts.js'
import { shardRole } from './shard-role.js'

export interface ShardOptions {
  readonly emulate: EmulatedVersion
  readonly maxWireVersion: number
  /**
   * Chunks are split while writes make them grow, and the chunk at the end of the key space then
   * moves. Default: as in the emulated version.
   */
  readonly autoSplit?: boolean
  /** Refuses commands and operators that silently lack a part. Default false. */
  readonly strict?: boolean
  /** Clients need privileges for their commands. Default false. */
  readonly hasAccessControl?: boolean
  readonly startOptions?: StartOptions
  /** These four: see `StorageNodeOptions`. */
  readonly oplogSizeBytes?: number
  readonly findReplicaSetHostTimeoutMs?: number
  readonly periodicNoopIntervalSecs?: number
  readonly checkpointAfterBytes?: number
  /**
   * Whether this shard samples queries, in versions that do; if not, it does not ask the config
   * server for configurations. Default true.
   */
  readonly samplesQueries?: boolean
  /** Emits `collection-size` after each change. Default false. */
  readonly reportsSizes?: boolean
  /** Default null: the only member of its set. */
  readonly set?: SetOptions | null
  /** Collections that have sizes of ranges instead of documents. Default null: none. */
  readonly measured?: MeasuredOptions | null
}

export function nodeOptionsOf(options: ShardOptions): StorageNodeOptions {
  return {
    behaviours: behavioursOf(options.emulate),
    maxWireVersion: options.maxWireVersion,
    strict: options.strict ?? false,
    hasAccessControl: options.hasAccessControl ?? false,
    ...(options.startOptions === undefined ? {} : { startOptions: options.startOptions }),
    findReplicaSetHostTimeoutMs: options.findReplicaSetHostTimeoutMs ?? 0,
    ...(options.checkpointAfterBytes === undefined ? {} : { checkpointAfterBytes: options.checkpointAfterBytes }),
    ...(options.oplogSizeBytes === undefined ? {} : { oplogSizeBytes: options.oplogSizeBytes }),
    ...(options.periodicNoopIntervalSecs === undefined
      ? {}
      : { periodicNoopIntervalSecs: options.periodicNoopIntervalSecs }),
  }
}

export function createParts(context: ActorContext, options: ShardOptions, ofSet: NodeOfSet): ShardParts {
  const { measured = null } = options
  const version = behavioursOf(options.emulate)
  const { autoSplit = version.autoSplit } = options
  const behaviours = autoSplit === version.autoSplit ? version : { ...version, autoSplit }
  const isSecondary = ofSet.mode === 'secondary'
  const placements: PlacementState = isSecondary
    ? new PlacementState(
        context,
        () => {},
        (name) => secondary!.flush(name),
      )
    : new PlacementState(
        context,
        (ns, placement) => adoptRename(node, ns, placement),
        (name, isKnown) => confirmPrimary(node, name, isKnown),
      )
  const identity = new ShardIdentity(context.address, () => node)
  const node: StorageNode = new StorageNode(
    context,
    { ...nodeOptionsOf(options), behaviours },
    () => shardRole(context.address, identity, behaviours, placements, () => parts),
    ofSet,
  )
  const critical = new CriticalSections()
  const mutations = {
    ownershipFilterOff: context.mutated('ownershipFilterOff'),
    versionCheckOff: context.mutated('versionCheckOff'),
  }
  const secondary = isSecondary ? new SecondaryPlacements(node, placements) : null
  const versions = new VersionCheck(identity, behaviours, placements, critical, mutations, secondary)
  const ranges = measured === null ? new StoredRangeStore(node) : new MeasuredRangeStore(node, measured)
  const migrationStatistics = new MigrationStatistics()
  const rangeDeleter = new RangeDeleter(node, ranges, migrationStatistics)
  const ddl = new DdlCoordinators(node, new DdlLocks({ context, behaviours }, context.mutated('ddlLocksOff')))
  const host = { node, placements, critical, versions, ranges, rangeDeleter, migrationStatistics, ddl }
  const migrations = new Migrations(host)
  const orphans = new OrphanCounts(node)
  const parts: ShardParts = {
    ...host,
    secondary,
    coordinators: new TransactionCoordinators(node),
    migrations,
    samples: behaviours.queryAnalyzer && options.samplesQueries !== false ? new QuerySamples(node) : null,
    databaseCopies: new DatabaseCopies(behaviours.movePrimaryRefusesWrites),
    reshardings: new Reshardings(host),
    autoSplitter: new AutoSplitter({ node, placements, ranges, migrations }),
    orphans,
    sizeReports: options.reportsSizes === true ? new SizeReports({ node, ranges, orphans }) : null,
    chunkSize: new ClusterChunkSize(node.context, node.behaviours),
  }
  return parts
}

/**
 * A primary that lost its majority may not know so yet, and may lack the data under a new
 * placement.
 * Server: shard_server_catalog_cache_loader.cpp, performNoopMajorityWriteLocally.
 * @throws CommandError why this member may not be primary
 */
async function confirmPrimary({ set, stopping }: StorageNode, name: string, isKnown: boolean): Promise<void> {
  if (isKnown || set.isAlone) return
  const error = await set.confirmPrimary(`placement of ${name}`, stopping.signal)
  if (error !== null) throw error
}
