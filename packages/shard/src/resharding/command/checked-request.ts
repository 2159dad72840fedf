/** Server: reshard_collection_coordinator.cpp, sharding_util.cpp. */
import { configAddress, RequestFailedError, type RequestOf, type ReshardingProvenance } from '@shardlab/actor'
import { CommandError, compareDocuments, documentsOf, DocumentWriter, fieldsOf, findField } from '@shardlab/bson'
import { expectUuid } from '@shardlab/node'
import { ShardKeyPattern, type CollectionPlacement } from '@shardlab/sharding'
import { trackCollection } from '../../coordinators/collections/track-collection.js'
import type { CoordinatorHost } from '../../coordinators/ddl-host.js'

const dataSizeTimeoutMs = 2000

/**
 * Adds a collection that will be moved to the catalog.
 * @returns null: there is nothing to do
 * @throws CommandError 118 NamespaceNotSharded, 26 NamespaceNotFound, 72 InvalidOptions, 361
 *   CollectionUUIDMismatch
 */
export async function checkedRequest(
  host: CoordinatorHost,
  { ns, request, collectionUuid, databaseVersion }: RequestOf<'shard.reshard-collection'>,
): Promise<Uint8Array | null> {
  const { node, placements } = host
  const provenance = provenanceOf(request)
  if (provenance === 'moveCollection') await trackCollection(host, ns, destinationIn(request)!, databaseVersion[0])
  expectUuid(node, ns, collectionUuid)
  const placement = await placements.refreshCollection(ns)
  if (placement === null) throw unknownCollection(host, ns)
  switch (provenance) {
    case 'moveCollection':
      if (!placement.isUnsplittable)
        throw new CommandError('NamespaceNotFound', 'MoveCollection can only be called on an unsharded collection.')
      return request
    case 'unshardCollection':
      return unsharding(host, placement, request)
    default:
      checkSharded(host, placement, request)
      return request
  }
}

export function provenanceOf(request: Uint8Array): ReshardingProvenance {
  return (findField(request, 'provenance')?.asString() ?? null) as ReshardingProvenance
}

function unknownCollection({ node: { behaviours } }: CoordinatorHost, ns: string): CommandError {
  const text = behaviours.unshardedRefusalsExpectSharding
    ? `Expected collection ${ns} to be sharded`
    : `Collection ${ns} is not sharded.`
  return behaviours.reshardingUnshardedCode === 118
    ? new CommandError('NamespaceNotSharded', text)
    : new CommandError('NamespaceNotFound', `Expected collection ${ns} to be tracked`)
}

function checkSharded(
  { node: { behaviours } }: CoordinatorHost,
  { isUnsplittable, shardKey }: CollectionPlacement,
  request: Uint8Array,
): void {
  if (isUnsplittable) throw new CommandError('NamespaceNotSharded', 'Collection has to be a sharded collection.')
  const isForced =
    behaviours.reshardingCanForceRedistribution && findField(request, 'forceRedistribution')?.isTruthy() === true
  if (isForced && compareDocuments(shardKey.document, findField(request, 'key')!.slice()) !== 0)
    throw new CommandError(
      'InvalidOptions',
      'The new shard key must be the same as the original shard key when using the forceRedistribution option. The forceRedistribution option is meant for redistributing the collection to a different set of shards.',
    )
}

async function unsharding(
  host: CoordinatorHost,
  placement: CollectionPlacement,
  request: Uint8Array,
): Promise<Uint8Array | null> {
  const wanted = destinationIn(request)
  if (!placement.isUnsplittable)
    return wanted === null ? withDestination(request, await leastLoadedShard(host)) : request
  if (wanted !== null && wanted !== placement.table.lowestShard())
    throw new CommandError(
      'NamespaceNotSharded',
      'Collection is already unsharded. Call moveCollection to move this collection to a different shard.',
    )
  return null
}

/** null: the request names none. */
function destinationIn(request: Uint8Array): string | null {
  const distribution = findField(request, 'shardDistribution')
  if (distribution === undefined) return null
  const [only] = documentsOf(distribution)
  return findField(only!, 'shard')!.asString()
}

function withDestination(request: Uint8Array, shard: string): Uint8Array {
  const { globalMin, globalMax } = ShardKeyPattern.parse(findField(request, 'key')!.slice(), { compoundHashed: true })
  const writer = new DocumentWriter(request.length + 128)
  for (const [name, value] of fieldsOf(request)) writer.value(name, value)
  const range = new DocumentWriter(96).string('shard', shard).document('min', globalMin).document('max', globalMax)
  return writer.documents('shardDistribution', [range.finish()]).finish()
}

/**
 * Ignores draining shards and shards that do not answer.
 * @throws CommandError 70 ShardNotFound
 */
async function leastLoadedShard({ node: { context } }: CoordinatorHost): Promise<string> {
  const { shards } = await context.request(configAddress, 'config.get-shards', {})
  const ids = shards
    .filter((shard) => findField(shard, 'draining')?.isTruthy() !== true)
    .map((shard) => findField(shard, '_id')!.asString())
  const sizeOf = async (shard: string): Promise<number> => {
    try {
      return (await context.request(shard, 'shard.data-size', {}, { timeoutMs: dataSizeTimeoutMs })).sizeBytes
    } catch (error) {
      if (error instanceof RequestFailedError) return Number.POSITIVE_INFINITY
      throw error
    }
  }
  const sizes = await context.all(ids.map(sizeOf))
  const shard = ids[sizes.indexOf(Math.min(...sizes))]
  if (shard === undefined) throw new CommandError('ShardNotFound', 'No non-draining shard found')
  return shard
}
