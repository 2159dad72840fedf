import { CommandError, compareDocuments } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { formatRange, type Chunk, type CollectionPlacement, type ShardKeyPattern } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { chunkAt, keyOfQuery, normalisedKey } from './sharded-collection.js'

/** The error codes of a command for arguments that name no chunk. */
export interface ChunkRefusals {
  /** The query does not fix the shard key. */
  readonly noKey: number
  /** The bounds have other fields than the shard key; null: reported as a missing chunk. */
  readonly badBounds: number | null
  readonly noChunk: number
}

/** @throws CommandError with the code `noKey`; 61 ShardKeyNotFound for the end of the key space */
export async function chunkOfQuery(
  invocation: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
  query: Uint8Array,
  { noKey }: Pick<ChunkRefusals, 'noKey'>,
): Promise<Chunk> {
  const key = keyOfQuery(invocation, placement, query)
  if (key === null) throw new CommandError(noKey, `no shard key found in chunk query ${formatDocument(query)}`)
  return chunkAt(invocation, ns, placement, key)
}

/**
 * @throws CommandError with the codes `badBounds` and `noChunk`; 61 ShardKeyNotFound for the end of
 *   the key space
 */
export async function chunkWithBounds(
  invocation: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
  bounds: readonly Uint8Array[],
  { badBounds, noChunk }: ChunkRefusals,
): Promise<Chunk> {
  const { shardKey } = placement
  const [low, high] = bounds as [Uint8Array, Uint8Array]
  const normalised = normalisedBounds(shardKey, low, high)
  if (normalised === null && badBounds !== null) throw new CommandError(badBounds, badBoundsText(shardKey, low, high))
  const [min, max] = normalised ?? [low, high]
  const chunk = normalised === null ? null : await chunkAt(invocation, ns, placement, min)
  if (chunk === null || compareDocuments(chunk.min, min) !== 0 || compareDocuments(chunk.max, max) !== 0)
    throw new CommandError(noChunk, `no chunk found with the shard key bounds ${formatRange(min, max)}`)
  return chunk
}

/** Null: {@link normalisedKey} rejects one of them. */
export function normalisedBounds(
  shardKey: ShardKeyPattern,
  low: Uint8Array,
  high: Uint8Array,
): [min: Uint8Array, max: Uint8Array] | null {
  const min = normalisedKey(shardKey, low)
  const max = normalisedKey(shardKey, high)
  return min === null || max === null ? null : [min, max]
}

export function badBoundsText({ document }: ShardKeyPattern, low: Uint8Array, high: Uint8Array): string {
  return `shard key bounds [${formatDocument(low)},${formatDocument(high)}) are not valid for shard key pattern ${formatDocument(document)}`
}
