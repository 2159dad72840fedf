/** Server: split_chunk.cpp. */
import { configAddress, RequestFailedError, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { BsonType, CommandError, fieldsOf, findField, typeName } from '@shardlab/bson'
import { raiseError } from '@shardlab/node'
import { formatField } from '@shardlab/query'
import { formatRange, type Behaviours, type CollectionPlacement, type ShardKeyPattern } from '@shardlab/sharding'
import type { ShardHandlers } from '../host/handlers.js'
import type { ChunkChanges, PlacementHost } from '../host/host.js'
import { mergeChunks } from './merge-chunks.js'

export interface ChunkHost extends PlacementHost {
  readonly migrations: ChunkChanges
}

export const chunkHandlers: ShardHandlers<
  'shard.split-chunk' | 'shard.merge-chunks' | 'shard.refresh-collection',
  ChunkHost
> = {
  'shard.split-chunk': (host, request) => host.migrations.changeChunks(request.ns, () => splitChunk(host, request)),
  'shard.merge-chunks': (host, request) => host.migrations.changeChunks(request.ns, () => mergeChunks(host, request)),
  'shard.refresh-collection': refreshCollection,
}

/**
 * @throws CommandError 87 CannotSplit for split points without hashes in hashed fields; errors of
 *   the config server, unless the chunk was split anyway
 */
async function splitChunk(
  { node, placements }: PlacementHost,
  request: RequestOf<'shard.split-chunk'>,
): Promise<ReplyOf<'shard.split-chunk'>> {
  const { context, behaviours } = node
  const { ns, generation, min, max, splitPoints } = request
  const known = placements.collection(ns) ?? (await placements.refreshCollection(ns))
  if (known !== null) checkHashedPoints(behaviours, known.shardKey, request)
  await context.reach('shard.split-chunk.before-commit', { ns })
  let error: Uint8Array | null
  let lost: RequestFailedError | null = null
  try {
    error = (
      await context.request(configAddress, 'config.commit-chunk-split', {
        ns,
        generation,
        min,
        max,
        splitPoints,
        shard: context.address,
      })
    ).error
  } catch (thrown) {
    if (!(thrown instanceof RequestFailedError) || thrown.undelivered) throw thrown
    error = null
    lost = thrown
  }
  const placement = await placements.refreshCollection(ns)
  if (error === null && lost === null) return { error: null }
  // The first attempt may have succeeded and its reply been lost: the error is then of the second.
  if (placement !== null && isSplit(placement, request)) return { error: null }
  if (lost !== null) throw lost
  raiseError(error)
  return { error: null }
}

function checkHashedPoints(
  { compoundHashedShardKeys }: Behaviours,
  shardKey: ShardKeyPattern,
  { min, max, splitPoints }: RequestOf<'shard.split-chunk'>,
): void {
  if (!shardKey.isHashed) return
  const chunk = formatRange(min, max)
  for (const point of splitPoints) {
    if (compoundHashedShardKeys) {
      const { path } = shardKey.fields[shardKey.hashedIndex]!
      const value = findField(point, path)!
      if (value.type !== BsonType.int64 && value.type !== BsonType.minKey && value.type !== BsonType.maxKey)
        throw new CommandError(
          'CannotSplit',
          `splitChunk cannot split chunk ${chunk}, split point ${formatField(path, value)}Value of type '${typeName(value.type)}' is not allowed for hashed fields`,
        )
      continue
    }
    for (const [name, value] of fieldsOf(point)) {
      if (value.type !== BsonType.int64)
        throw new CommandError(
          'CannotSplit',
          `splitChunk cannot split chunk ${chunk}, split point ${formatField(name, value)} must be of type NumberLong for hashed shard key patterns`,
        )
    }
  }
}

/** Whether chunks begin at each of these keys and nowhere between them. */
function isSplit(
  { table, shardKey }: CollectionPlacement,
  { min, max, splitPoints }: RequestOf<'shard.split-chunk'>,
): boolean {
  const bounds = [min, ...splitPoints, max].map((bound) => shardKey.keyStringOfBound(bound) ?? '')
  const begins = new Set<string>()
  for (const chunk of table.chunks()) if (chunk.min >= bounds[0]! && chunk.min <= bounds.at(-1)!) begins.add(chunk.min)
  if (bounds.at(-1) === table.globalMax) begins.add(table.globalMax)
  return begins.size === bounds.length && bounds.every((bound) => begins.has(bound))
}

async function refreshCollection(
  { placements }: PlacementHost,
  { ns }: RequestOf<'shard.refresh-collection'>,
): Promise<ReplyOf<'shard.refresh-collection'>> {
  await placements.refreshCollection(ns)
  return { error: null }
}
