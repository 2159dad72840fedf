/**
 * The argument `collectionUUID`. Server: collection_uuid_mismatch.cpp,
 * collection_uuid_mismatch_info.cpp.
 */
import type { CommandArguments } from '@shardlab/actor'
import { sameBytes } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { Collection, StorageEngine } from '@shardlab/storage'
import { databaseNameOf, collectionUuidOf, uuidMismatch } from '@shardlab/member'

interface UuidHost {
  readonly behaviours: Behaviours
  readonly engine: Pick<StorageEngine, 'collections'>
  collection(ns: string): Collection | undefined
}

/**
 * A view does not count as a collection.
 * @throws CommandError 361 CollectionUUIDMismatch, and those of {@link collectionUuidOf}
 */
export function checkCollectionUuid(host: UuidHost, ns: string, args: CommandArguments): void {
  expectUuid(host, ns, collectionUuidOf(args))
}

/**
 * @throws CommandError 361 CollectionUUIDMismatch if the collection does not exist or has another
 * UUID
 */
export function expectUuid(host: UuidHost, ns: string, uuid: Uint8Array | null): void {
  if (uuid === null) return
  const isIt = (collection: Collection | undefined) => collection !== undefined && sameBytes(collection.uuid, uuid)
  if (isIt(host.collection(ns))) return
  throw uuidMismatch(ns, uuid, host.engine.collections(databaseNameOf(ns)).find(isIt)?.ns ?? null)
}
