/** Server: MigrationDestinationManager::cloneCollectionIndexesAndOptions. */
import { CommandError, compareDocuments, findField, sameBytes } from '@shardlab/bson'
import { uuidText } from '@shardlab/member'
import { buildIndex, createCollection, dropIndex, idIndexVersionOf, type NodeHost } from '@shardlab/node'
import { isIdKey, type Collection } from '@shardlab/storage'

export interface DonorCollection {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly options: Uint8Array
  readonly indexes: readonly Uint8Array[]
}

/**
 * Creates the collection, or the missing indexes of an empty one. The caller flushes the node.
 * @param ownsNothing this shard owns no chunk: indexes that the donor does not have are dropped
 * @throws CommandError 207 InvalidUUID: another collection has the name; 242
 *   CannotCreateCollection: indexes are missing and the collection is not empty
 */
export function prepareCollection(node: NodeHost, donor: DonorCollection, ownsNothing: boolean): void {
  const existing = node.collection(donor.ns)
  if (existing !== undefined && !sameBytes(existing.uuid, donor.uuid)) {
    throw new CommandError(
      'InvalidUUID',
      `Cannot create collection ${donor.ns} because we already have an identically named collection with UUID ${uuidText(existing.uuid)}, which differs from the donor's UUID ${uuidText(donor.uuid)}. Manually drop the collection on this shard if it contains data from a previous incarnation of ${donor.ns}`,
    )
  }
  if (existing !== undefined && ownsNothing) dropForeignIndexes(node, existing, donor.indexes)
  const collection =
    existing ??
    createCollection(node, donor.ns, donor.options, {
      uuid: donor.uuid,
      idIndexVersion: idIndexVersionOf(donor.indexes),
      fromMigrate: true,
    })
  const missing = donor.indexes.filter((spec) => collection.index(nameOf(spec)) === undefined)
  if (missing.length > 0 && collection.count > 0) {
    throw new CommandError(
      'CannotCreateCollection',
      `aborting, shard is missing ${missing.length} indexes and collection is not empty. Non-trivial index creation should be scheduled manually`,
    )
  }
  for (const spec of missing) buildIndex(node, collection, spec, true)
}

function dropForeignIndexes(node: NodeHost, collection: Collection, wanted: readonly Uint8Array[]): void {
  for (const index of collection.indexes()) {
    if (isIdKey(index.key) || wanted.some((spec) => compareDocuments(spec, index.spec) === 0)) continue
    dropIndex(node, collection, index.name)
  }
}

function nameOf(spec: Uint8Array): string {
  return findField(spec, 'name')!.asName()
}
