/**
 * Contradictions between a shard's collections and the catalog.
 * Manual: reference/inconsistency-type.
 * Server: metadata_consistency_util.cpp, checkCollectionMetadataConsistency.
 */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { compareDocuments, DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { ShardKeyPattern } from '@shardlab/sharding'
import { supportsShardKey } from '../shard-key/shard-key-index.js'
import type { ShardHandlers } from '../host/handlers.js'
import type { PlacementHost } from '../host/host.js'

export const consistencyHandlers: ShardHandlers<'shard.check-metadata', PlacementHost> = {
  'shard.check-metadata': checkMetadata,
}

function checkMetadata(
  host: PlacementHost,
  { db, primary, only, collections }: RequestOf<'shard.check-metadata'>,
): ReplyOf<'shard.check-metadata'> {
  const { node } = host
  const isPrimary = node.context.address === primary
  const inCatalog = new Map(collections.map((entry) => [findField(entry, '_id')!.asString(), entry]))
  const local = node.engine.collections(db).filter(({ ns }) => only === null || ns === only)
  const inconsistencies: Uint8Array[] = []
  const options: [string, Uint8Array][] = []
  for (const collection of local) {
    const entry = inCatalog.get(collection.ns)
    if (entry !== undefined) {
      inconsistencies.push(...contradictions(host, collection, entry))
      options.push([collection.ns, optionsOf(collection)])
    } else if (!isPrimary && !isLocal(collection.ns)) inconsistencies.push(misplaced(host, collection))
  }
  if (node.behaviours.metadataConsistencyFindsMissingCollections) {
    for (const [ns, entry] of inCatalog) {
      if (node.collection(ns) === undefined && (isPrimary || ownsChunks(host, ns)))
        inconsistencies.push(missing(host, ns, entry))
    }
  }
  return { inconsistencies, options }
}

/**
 * Whether each shard has its own collection of this name.
 * Server: NamespaceString::isNamespaceAlwaysUntracked.
 */
function isLocal(ns: string): boolean {
  return ns.slice(ns.indexOf('.') + 1).startsWith('system.')
}

function ownsChunks({ node, placements }: PlacementHost, ns: string): boolean {
  return placements.collection(ns)?.table.owners().includes(node.context.address) === true
}

function contradictions(host: PlacementHost, collection: Collection, entry: Uint8Array): Uint8Array[] {
  const { node } = host
  const { address } = node.context
  const { ns } = collection
  const found: Uint8Array[] = []
  const uuid = findField(entry, 'uuid')
  const sameUuid = uuid !== undefined && uuid.isBinary(collection.uuid)
  if (uuid !== undefined && !sameUuid) {
    const details = new DocumentWriter(128)
      .string('namespace', ns)
      .string('shard', address)
      .uuid('localUUID', collection.uuid)
    found.push(
      inconsistency(
        'CollectionUUIDMismatch',
        'Found collection on non primary shard with mismatching UUID',
        details.value('uuid', uuid).finish(),
      ),
    )
  }
  if (collection.capped !== null)
    found.push(
      optionsMismatch(
        ns,
        address,
        new DocumentWriter(32).bool('capped', true).finish(),
        new DocumentWriter(64).bool('capped', false).bool('unsplittable', false).finish(),
      ),
    )
  const ownCollation = findField(collection.options, 'collation')?.slice() ?? emptyDocument
  const catalogCollation = findField(entry, 'defaultCollation')?.slice() ?? emptyDocument
  if (compareDocuments(ownCollation, catalogCollation) !== 0) {
    const collation = (document: Uint8Array) => new DocumentWriter(128).document('defaultCollation', document).finish()
    found.push(optionsMismatch(ns, address, collation(ownCollation), collation(catalogCollation)))
  }
  const key = findField(entry, 'key')
  if (sameUuid && key !== undefined && lacksShardKeyIndex(host, collection, key.slice())) {
    const details = new DocumentWriter(128)
      .string('namespace', ns)
      .string('shard', address)
      .value('shardKey', key)
      .finish()
    found.push(inconsistency('MissingShardKeyIndex', 'Found sharded collection without a shard key index', details))
  }
  return found
}

/** Shards without chunks do not build indexes, and the index of a hashed key may be dropped. */
function lacksShardKeyIndex(host: PlacementHost, collection: Collection, key: Uint8Array): boolean {
  const pattern = ShardKeyPattern.parse(key, { compoundHashed: true })
  if (pattern.isHashed || collection.indexes().some((index) => supportsShardKey(index, key, false))) return false
  return ownsChunks(host, collection.ns)
}

/** Options and UUID, as listCollections shows them. */
function optionsOf({ options, uuid }: Collection): Uint8Array {
  return new DocumentWriter(options.length + 32).uuid('uuid', uuid).fields(options).finish()
}

function optionsMismatch(ns: string, shard: string, own: Uint8Array, catalog: Uint8Array): Uint8Array {
  const held = (options: Uint8Array, by: string) =>
    new DocumentWriter(128).document('options', options).startArray('shards').string('0', by).end().finish()
  const details = new DocumentWriter(512)
    .string('namespace', ns)
    .documents('options', [held(own, shard), held(catalog, 'config')])
  return inconsistency(
    'CollectionOptionsMismatch',
    'Found collection with mismatching options across shards and/or config server',
    details.finish(),
  )
}

function misplaced({ node }: PlacementHost, { ns, uuid }: Collection): Uint8Array {
  return inconsistency(
    'MisplacedCollection',
    'Unsharded collection found on shard different from database primary shard',
    new DocumentWriter(128)
      .string('namespace', ns)
      .string('shard', node.context.address)
      .uuid('localUUID', uuid)
      .finish(),
  )
}

function missing({ node }: PlacementHost, ns: string, entry: Uint8Array): Uint8Array {
  const details = new DocumentWriter(128).string('namespace', ns).value('uuid', findField(entry, 'uuid')!)
  return inconsistency(
    'MissingLocalCollection',
    'Collection registered on the sharding catalog not found on the given shards',
    details.string('shard', node.context.address).finish(),
  )
}

function inconsistency(type: string, description: string, details: Uint8Array): Uint8Array {
  return new DocumentWriter(details.length + 192)
    .string('type', type)
    .string('description', description)
    .document('details', details)
    .finish()
}
