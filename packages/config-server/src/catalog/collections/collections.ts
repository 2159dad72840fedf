/** Server: sharding_catalog_manager_collection_operations.cpp. */
import { packChunks, type PackedChunks, type ReplyOf, type RequestOf } from '@shardlab/actor'
import {
  boolValue,
  CommandError,
  DocumentWriter,
  findField,
  objectIdValue,
  sameBytes,
  stringValue,
  timestampValue,
} from '@shardlab/bson'
import { ShardKeyPattern } from '@shardlab/sharding'
import { databaseNameOf } from '@shardlab/member'
import { collectionDocument, databaseUuidOf, isUnsplittable, type NewCollection } from '../store/catalog-documents.js'
import { withFields } from '../store/document-changes.js'
import { checkMember } from '../members/departures.js'
import { newChunkDocuments } from '../chunks/new-chunks.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'

/** The key that the catalog stores for an unsharded collection. */
const unsplittableKey = ShardKeyPattern.parse(new DocumentWriter(32).int32('_id', 1).finish(), { compoundHashed: true })

export const collectionHandlers: ConfigHandlers<
  | 'config.commit-create-collection'
  | 'config.track-collection'
  | 'config.commit-drop-collection'
  | 'config.commit-drop-collections'
  | 'config.commit-rename-collection'
> = {
  'config.commit-create-collection': commitCreateCollection,
  'config.track-collection': trackCollection,
  'config.commit-drop-collection': (catalog, { ns }) => dropCollection(catalog, ns),
  'config.commit-drop-collections': (catalog, request) => dropCollections(catalog, request),
  'config.commit-rename-collection': commitRenameCollection,
}

async function commitCreateCollection(
  catalog: CatalogHost,
  request: RequestOf<'config.commit-create-collection'>,
): Promise<ReplyOf<'config.commit-create-collection'>> {
  const { ns, uuid, key, unique, defaultCollation, chunks, wasTracked, plannedAt } = request
  const existing = catalog.collection(ns)
  if (existing !== null && !isUnsplittable(existing)) {
    // The primary shard repeats a commit whose reply was lost.
    if (sameBytes(uuidOf(existing), uuid)) return { error: null }
    throw new CommandError('AlreadyInitialized', `sharding already enabled for collection ${ns}`)
  }
  const database = checkPrimary(catalog, request)
  // The primary shard normally excludes other changes, but it may have crashed in the meantime.
  if (wasTracked && (existing === null || !sameBytes(uuidOf(existing), uuid)))
    throw new CommandError('NamespaceNotFound', `Collection ${ns} is not there any more`)
  for (const shard of new Set(chunks[1])) checkMember(catalog, shard, plannedAt)
  if (existing !== null) removeChunks(catalog, existing)
  const collection = newCollection(catalog, { ns, uuid, key, unique, defaultCollation })
  putChunks(catalog, collection, chunks)
  catalog.store.put('config.collections', collectionDocument(catalog.behaviours, collection))
  catalog.markPartitioned(database)
  await catalog.node.flushToMajority()
  catalog.emitChange('collection-sharded', ns)
  return { error: null }
}

async function trackCollection(
  catalog: CatalogHost,
  { ns, uuid, defaultCollation, shard, to, databaseUuid }: RequestOf<'config.track-collection'>,
): Promise<ReplyOf<'config.track-collection'>> {
  if (catalog.collection(ns) !== null) return { error: null }
  checkPrimary(catalog, { ns, primary: shard, databaseUuid })
  if (catalog.store.get('config.shards', to) === null) throw new CommandError('ShardNotFound', `Shard ${to} not found`)
  const { document: key, globalMin, globalMax } = unsplittableKey
  const collection = newCollection(catalog, { ns, uuid, key, unique: false, defaultCollation })
  putChunks(catalog, collection, packChunks([[globalMin, globalMax, shard]]))
  const entry = collectionDocument(catalog.behaviours, collection)
  catalog.store.put('config.collections', withFields(entry, { unsplittable: boolValue(true) }))
  await catalog.node.flushToMajority()
  catalog.emitChange('collection-tracked', ns)
  return { error: null }
}

function newCollection(
  { node }: CatalogHost,
  collection: Pick<NewCollection, 'ns' | 'uuid' | 'key' | 'unique' | 'defaultCollation'>,
): NewCollection {
  return { ...collection, epoch: node.newObjectId(), timestamp: node.clock.tick(), nowMs: node.context.now() }
}

/** Call before writing the collection's entry: chunks without an entry are never read. */
function putChunks(catalog: CatalogHost, collection: NewCollection, chunks: PackedChunks): void {
  const { node, behaviours } = catalog
  catalog.store.insertAll('config.chunks', newChunkDocuments(behaviours, node.newObjectId, collection, chunks))
}

function removeChunks(catalog: CatalogHost, collection: Uint8Array): void {
  for (const chunk of catalog.chunks(collection)) catalog.store.remove('config.chunks', chunk)
}

async function dropCollection(catalog: CatalogHost, ns: string): Promise<ReplyOf<'config.commit-drop-collection'>> {
  for (const tag of catalog.zonesOf(ns)) catalog.store.remove('config.tags', tag)
  const collection = catalog.store.get('config.collections', ns)
  if (collection === null) {
    await catalog.node.flushToMajority()
    return { error: null }
  }
  if (catalog.behaviours.droppedCollectionsLeaveEntries)
    catalog.store.put('config.collections', withFields(collection, { dropped: boolValue(true) }))
  else catalog.store.remove('config.collections', collection)
  removeChunks(catalog, collection)
  await catalog.node.flushToMajority()
  catalog.emitChange('collection-dropped', ns)
  return { error: null }
}

async function commitRenameCollection(
  catalog: CatalogHost,
  { ns, to, uuid }: RequestOf<'config.commit-rename-collection'>,
): Promise<ReplyOf<'config.commit-rename-collection'>> {
  const isIt = (collection: Uint8Array | null) => collection !== null && sameBytes(uuidOf(collection), uuid)
  const target = catalog.store.get('config.collections', to)
  if (isIt(target)) return { error: null }
  const collection = catalog.store.get('config.collections', ns)
  if (collection === null || !isIt(collection))
    throw new CommandError('NamespaceNotFound', `Collection ${ns} is not sharded`)
  if (target !== null) await dropCollection(catalog, to)
  const { node, store } = catalog
  const renamed = withFields(collection, {
    _id: stringValue(to),
    lastmodEpoch: objectIdValue(node.newObjectId()),
    timestamp: timestampValue(...node.clock.tick()),
  })
  store.remove('config.collections', collection)
  store.put('config.collections', renamed)
  for (const tag of catalog.zonesOf(ns)) store.put('config.tags', withFields(tag, { ns: stringValue(to) }))
  await catalog.node.flushToMajority()
  catalog.emitChange('collection-renamed', to)
  return { error: null }
}

/**
 * A coordinator holds the locks of its database, but catalogs are also changed by clients.
 * @returns the database
 * @throws CommandError 249 StaleDbVersion when it was dropped, recreated or moved
 */
function checkPrimary(
  catalog: CatalogHost,
  { ns, primary, databaseUuid }: { readonly ns: string; readonly primary: string; readonly databaseUuid: string },
): Uint8Array {
  const db = databaseNameOf(ns)
  const database = catalog.database(db)
  if (
    database === null ||
    databaseUuidOf(database) !== databaseUuid ||
    findField(database, 'primary')!.asString() !== primary
  )
    throw new CommandError('StaleDbVersion', `database ${db} was dropped, recreated or moved during the operation`, {
      extra: new DocumentWriter(64).string('db', db).finish(),
    })
  return database
}

export async function dropCollections(
  catalog: CatalogHost,
  { db, databaseUuid }: RequestOf<'config.commit-drop-collections'>,
): Promise<ReplyOf<'config.commit-drop-collections'>> {
  const database = catalog.database(db)
  if (database === null || databaseUuidOf(database) !== databaseUuid) return { error: null }
  for (const collection of catalog.store.find('config.collections')) {
    const ns = findField(collection, '_id')!.asString()
    if (ns.startsWith(`${db}.`)) await dropCollection(catalog, ns)
  }
  return { error: null }
}

function uuidOf(collection: Uint8Array): Uint8Array {
  return findField(collection, 'uuid')!.asBinary()
}
