import { CommandError, DocumentWriter, sameBytes } from '@shardlab/bson'
import type { Behaviours, CollectionPlacement } from '@shardlab/sharding'
import type { ShardRole } from './host/shard-of.js'
import type { ShardIdentity } from './membership/identity.js'
import { enterCollection } from './metadata/entrance.js'
import { fetchTimeKeys } from './membership/time-keys.js'
import type { PlacementState } from './metadata/placement-state.js'
import { reshardingOperations } from './resharding/report/operations.js'
import { writeReshardingStatistics } from './resharding/report/statistics.js'
import { shardIndexRules } from './shard-key/index-rules.js'
import { checkShardKeyOfUpsert, checkShardKeyUpdate } from './shard-key/shard-key-updates.js'
import type { ShardParts } from './shard-parts.js'
import { shardRows } from './shard-rows.js'

/** @param parts called only after the node was created */
export function shardRole(
  setName: string,
  identity: ShardIdentity,
  behaviours: Behaviours,
  placements: PlacementState,
  parts: () => ShardParts,
): ShardRole {
  const shardKeys = { behaviours, identity, placements }
  const role: ShardRole = {
    get shard() {
      return parts()
    },
    name: 'shard',
    setName,
    get memberName() {
      return identity.shardId
    },
    rows: shardRows,
    enter(ns, invocation) {
      const { routed } = invocation
      if (routed !== null && (routed.shardVersion !== null || routed.databaseVersion !== null)) identity.require()
      parts().ranges.checkCommand(ns, invocation)
      if (invocation.operation.command === 'create' && behaviours.createIsCoordinated && routed !== null)
        return parts().ddl.holdLock('createCollection', ns, async () => enterCollection(parts(), ns, invocation))
      return enterCollection(parts(), ns, invocation)
    },
    enterInBackground: (ns) => parts().versions.enter(ns, { shardVersion: 'IGNORED', databaseVersion: null }),
    get sampling() {
      return parts().samples
    },
    checkReplacement(access, before, after, invocation, statement) {
      const { samples } = parts()
      if (samples?.isActive === true) samples.noteReplacement(before, after, invocation)
      checkShardKeyUpdate(shardKeys, access, { before, after, statement }, invocation)
    },
    checkUpsert: (access, document, invocation, statement) =>
      checkShardKeyOfUpsert(shardKeys, access, document, invocation, statement),
    checkImplicitCreate(ns, { routed }) {
      if (routed !== null && typeof routed.shardVersion !== 'string') {
        throw new CommandError(
          'CannotImplicitlyCreateCollection',
          "request doesn't allow collection to be created implicitly",
          {
            extra: new DocumentWriter().string('ns', ns).finish(),
          },
        )
      }
    },
    fetchTimeKeys: () => fetchTimeKeys(parts().node),
    checkDefinitionChange: (ns) => parts().reshardings.checkDefinitionChange(ns),
    async checkRename(from, to) {
      if (!identity.isKnown) return
      const isSharded = async (ns: string) => {
        const placement = placements.collection(ns) ?? (await placements.refreshCollection(ns))
        return placement?.isUnsplittable === false
      }
      if (await isSharded(from)) throw new CommandError('IllegalOperation', 'source namespace cannot be sharded')
      if (await isSharded(to)) throw new CommandError('IllegalOperation', 'cannot rename to a sharded collection')
    },
    indexRules: shardIndexRules(behaviours, placements),
    *placements() {
      for (const [ns, placement] of placements.collections())
        yield [ns, placement?.table.versionOn(identity.shardId) ?? null] as const
    },
    shardKeyOf(ns, uuid) {
      const known = placements.collection(ns)
      const keyOf = (placement: CollectionPlacement | null) =>
        placement !== null && sameBytes(placement.uuid, uuid) ? placement.shardKey : null
      return known === undefined ? placements.refreshCollection(ns).then(keyOf) : keyOf(known)
    },
    sizesOf: (collection, bounds) =>
      parts()
        .ranges.of(collection)
        .reportedSizes(bounds, placements.collection(collection.ns)?.shardKey ?? null),
    chunkSizeBytes: () => parts().chunkSize.bytes,
    async refreshChunkSize() {
      if (identity.isKnown) await parts().chunkSize.refresh()
    },
    orphanCount: ({ uuid }) => parts().orphans.of(uuid),
    writeShardingStatistics(writer) {
      const { migrationStatistics, rangeDeleter } = parts()
      migrationStatistics.write(writer, behaviours, rangeDeleter.tasks.all().length)
      writeReshardingStatistics(parts(), writer)
    },
    writeCoordinatorStatistics: (writer) => parts().coordinators.statistics.write(writer),
    *backgroundOperations(label) {
      yield* parts().coordinators.operations(label)
      yield* reshardingOperations(parts(), label)
    },
  }
  return role
}
