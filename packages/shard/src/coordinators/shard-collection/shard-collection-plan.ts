/** Server: create_collection_coordinator.cpp, and the coordinators before 5.0. */
import { configAddress, type PackedChunks, type TimestampPair } from '@shardlab/actor'
import {
  BsonType,
  compareDocuments,
  CommandError,
  DocumentWriter,
  elementsOf,
  emptyDocument,
  findField,
  noCode,
} from '@shardlab/bson'
import { checkCollectionUuid, viewOf, type NodeHost } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { chunkSizeBytes } from '../../membership/chunk-size.js'
import type { RangeStore } from '../../ranges/collection-ranges.js'
import { hasShardKeyIndex, newShardKeyIndex } from '../../shard-key/shard-key-index.js'
import type { CoordinatorHost } from '../ddl-host.js'
import { checkInitialSplit, initialChunks } from './initial-split-policy.js'
import type { InitialSplit } from './initial-split.js'
import { parseShardCollection, type ShardCollectionRequest } from './shard-collection-request.js'
import { checkShardedNamespace } from './sharded-namespace.js'
import { checkZonesFitKey, parseZones } from './zones.js'

export interface ShardCollectionHost extends CoordinatorHost {
  readonly ranges: RangeStore
}

export interface ShardCollectionPlan {
  readonly request: ShardCollectionRequest
  readonly collection: Collection | undefined
  readonly isEmpty: boolean
  /** null: the collection has a suitable one. */
  readonly index: Uint8Array | null
  readonly chunks: PackedChunks
  /** Whether the catalog has the collection as unsharded. */
  readonly wasTracked: boolean
  /** When the shards were read. */
  readonly plannedAt: TimestampPair
}

/**
 * Validates in the order of the emulated version; changes nothing.
 * @returns `sharded`: the collection is sharded with the same options; `elsewhere`: it is
 *   unsharded, on that shard
 * @throws CommandError 20, 23, 72, 166, 2 and more; without codes under 2.6
 */
export async function planShardCollection(
  host: ShardCollectionHost,
  ns: string,
  body: Uint8Array,
): Promise<ShardCollectionPlan | { readonly sharded: CollectionPlacement } | { readonly elsewhere: string }> {
  const { node, placements } = host
  const { context, behaviours } = node
  const [{ shards, clusterTime: plannedAt }, { zones }, { setting }, known] = await context.all([
    context.request(configAddress, 'config.get-shards', {}),
    context.request(configAddress, 'config.get-zones', { ns }),
    context.request(configAddress, 'config.get-setting', { id: 'chunksize' }),
    placements.refreshCollection(ns),
  ])
  if (known?.isUnsplittable === true && known.table.lowestShard() !== context.address)
    return { elsewhere: known.table.lowestShard() }
  const existing = known?.isUnsplittable === true ? null : known
  const ids = shards.map((shard) => findField(shard, '_id')!.asString())
  const catalogEntry =
    existing === null
      ? null
      : (await context.request(configAddress, 'config.get-collection', { ns, since: existing.table.version }))
          .collection
  return withOldErrors(node, async () => {
    if (existing !== null && behaviours.enablingTwiceFails)
      throw new CommandError('IllegalOperation', 'already sharded')
    const request = parseShardCollection(behaviours, ns, body, ids.length)
    const collection = node.collection(ns)
    checkCollectionUuid(node, ns, request.args)
    checkShardable(node, collection, ns, request)
    if (existing !== null) {
      checkSameOptions(node, existing, request, catalogEntry)
      return { sharded: existing }
    }
    checkShardedNamespace(ns)
    const isEmpty = collection === undefined || collection.count === 0
    const ranges = behaviours.zonesShapeInitialChunks ? parseZones(zones) : []
    const { shardKey, requiresUniqueIndex } = request
    const split: InitialSplit = {
      behaviours,
      ns,
      shardKey,
      isEmpty,
      primaryShard: context.address,
      shards: receivers(node, shards),
      shardsOfZone: shardsOfZones(shards),
      zones: ranges,
      numInitialChunks: request.numInitialChunks,
      presplitHashedZones: request.presplitHashedZones,
      splitPoints: [],
    }
    const checkPolicy = (): void => {
      checkZonesFitKey(behaviours, ranges, shardKey)
      checkInitialSplit(split)
    }
    // The coordinator of 5.0 and later checks the chunks before the indexes.
    if (behaviours.shardCollectionIsCheckedBy === 'primary-shard') checkPolicy()
    const requirement = { behaviours, collection, ns, shardKey, unique: requiresUniqueIndex }
    const reasons = { text: '' }
    const found = hasShardKeyIndex(requirement, reasons)
    if (!found) checkIndexCanBeMade(node, collection, request, reasons.text)
    const index = found ? null : newShardKeyIndex({ ...requirement, unique: request.unique })
    if (behaviours.shardCollectionIsCheckedBy !== 'primary-shard') checkPolicy()
    const cutsDocuments = !isEmpty && ranges.length === 0 && behaviours.initialChunksOfDocuments
    const splitPoints = cutsDocuments
      ? await splitPointsOf(host, collection, shardKey, chunkSizeBytes(behaviours, setting))
      : []
    return {
      request,
      collection,
      isEmpty,
      index,
      chunks: initialChunks({ ...split, splitPoints }),
      wasTracked: known !== null,
      plannedAt,
    }
  })
}

/** Errors of 2.6 have no code. */
async function withOldErrors<T>({ behaviours }: NodeHost, work: () => Promise<T>): Promise<T> {
  if (behaviours.shardCollectionErrorsHaveCodes) return work()
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(noCode, error.message, { extra: error.extra, cause: error })
  }
}

function checkShardable(
  node: NodeHost,
  collection: Collection | undefined,
  ns: string,
  { collationGiven }: ShardCollectionRequest,
): void {
  const byCoordinator = node.behaviours.shardCollectionIsCheckedBy === 'primary-shard'
  if (collection === undefined) {
    if (viewOf(node, ns) !== null)
      throw new CommandError(
        'CommandNotSupportedOnView',
        byCoordinator ? `Namespace ${ns} is a view, not a collection` : 'Views cannot be sharded.',
      )
    return
  }
  if (collection.capped !== null)
    throw new CommandError(
      'InvalidOptions',
      node.behaviours.shardCollectionIsCheckedBy === 'router'
        ? "can't shard capped collection"
        : "can't shard a capped collection",
    )
  if (collection.defaultCollation === null || collationGiven) return
  const collation = formatDocument(collection.defaultCollation)
  throw new CommandError(
    'BadValue',
    byCoordinator
      ? `If no collation was specified, the collection collation must be {locale: 'simple'}, but found: ${collation}`
      : `Collection has default collation: collation: ${collation}. Must specify collation {locale: 'simple'}`,
  )
}

function checkSameOptions(
  { behaviours }: NodeHost,
  existing: CollectionPlacement,
  { shardKey, unique }: ShardCollectionRequest,
  catalogEntry: Uint8Array | null,
): void {
  if (compareDocuments(existing.shardKey.document, shardKey.document) === 0 && existing.unique === unique) return
  const { ns } = existing
  const text = {
    'with options': `sharding already enabled for collection ${ns} with options ${formatDocument(catalogEntry ?? emptyDocument)}`,
    plain: `sharding already enabled for collection ${ns}`,
    tracked: `collection already tracked with different options for collection ${ns}`,
  }[behaviours.alreadyShardedError]
  throw new CommandError('AlreadyInitialized', text)
}

function checkIndexCanBeMade(
  { behaviours }: NodeHost,
  collection: Collection | undefined,
  { shardKey, createsIndex }: ShardCollectionRequest,
  reasons: string,
): void {
  if (!createsIndex) throw new CommandError(6373200, 'Must have an index compatible with the proposed shard key')
  if (collection === undefined || collection.count === 0) return
  if (behaviours.shardCollectionIsCheckedBy === 'router') {
    const extra = new DocumentWriter(256).document('proposedKey', shardKey.document).startArray('curIndexes')
    collection.indexes().forEach(({ spec }, i) => extra.document(String(i), spec))
    throw new CommandError('InvalidOptions', 'please create an index that starts with the shard key before sharding.', {
      extra: extra.end().finish(),
    })
  }
  throw new CommandError(
    'InvalidOptions',
    `Please create an index that starts with the proposed shard key before sharding the collection${behaviours.shardKeyIndexErrorsGiveReasons ? `. ${reasons}` : ''}`,
  )
}

/**
 * The shards that get chunks: until 6.0 all, by their ids; since then, in random order, those that
 * are not draining.
 */
function receivers({ behaviours, context }: NodeHost, shards: readonly Uint8Array[]): string[] {
  const ids = (documents: readonly Uint8Array[]) => documents.map((shard) => findField(shard, '_id')!.asString())
  if (!behaviours.initialChunksOnShuffledShards) return ids(shards)
  return context.random.shuffled(ids(shards.filter((shard) => findField(shard, 'draining')?.isTruthy() !== true)))
}

function shardsOfZones(shards: readonly Uint8Array[]): Map<string, string[]> {
  const byZone = new Map<string, string[]>()
  for (const shard of shards) {
    const id = findField(shard, '_id')!.asString()
    const tags = findField(shard, 'tags')
    const zones = tags?.type === BsonType.array ? elementsOf(tags).map((tag) => tag.asString()) : []
    for (const zone of zones) byZone.set(zone, [...(byZone.get(zone) ?? []), id])
  }
  return byZone
}

function splitPointsOf(
  { ranges }: ShardCollectionHost,
  collection: Collection,
  { document, globalMin, globalMax }: ShardKeyPattern,
  maxChunkSizeBytes: number,
): Promise<Uint8Array[]> {
  const wanted = { keyPattern: document, min: globalMin, max: globalMax, maxChunkSizeBytes }
  return ranges.of(collection).splitVector(wanted, null)
}
