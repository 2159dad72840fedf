/** Reads chunks of a collection from the config server, in parts. */
import type { PlacementVersionTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import { comparePlacement, generationOf, parseChunk, sameGeneration, ShardKeyPattern } from '@shardlab/sharding'

const chunksPerReply = 10_000

export interface ChangedChunks {
  /** Of config.collections. */
  readonly collection: Uint8Array
  /** Of config.chunks, oldest version first. */
  readonly chunks: readonly Uint8Array[]
  /** They are all chunks of the collection. */
  readonly isFull: boolean
  readonly version: PlacementVersionTuple
}

type Ask = (request: RequestOf<'config.get-chunks'>) => Promise<ReplyOf<'config.get-chunks'>>

/**
 * @param known their version was read before; null: reads all
 * @returns null: the catalog has no such collection
 */
export async function readChangedChunks(
  ask: Ask,
  ns: string,
  known: PlacementVersionTuple | null,
): Promise<ChangedChunks | null> {
  const changed: Uint8Array[] = []
  let since = known
  let isFull = known === null
  for (;;) {
    const { collection, full, chunks } = await ask({ ns, since, limit: chunksPerReply })
    if (collection === null) return null
    if (full) {
      // The first reply, or the collection was recreated between two of them.
      changed.length = 0
      isFull = true
    }
    changed.push(...chunks)
    const version = newest(collection, since, chunks)
    if (chunks.length < chunksPerReply) return { collection, chunks: changed, isFull, version }
    since = version
  }
}

function newest(
  collection: Uint8Array,
  since: PlacementVersionTuple | null,
  chunks: readonly Uint8Array[],
): PlacementVersionTuple {
  const generation = generationOf(collection)
  let latest: PlacementVersionTuple =
    since !== null && sameGeneration(since, [...generation, 0, 0]) ? since : [...generation, 0, 0]
  for (const document of chunks) {
    const { major, minor } = parseChunk(document)
    const version: PlacementVersionTuple = [...generation, major, minor]
    if (comparePlacement(latest, version) < 0) latest = version
  }
  return latest
}

export const patternOf = (collection: Uint8Array): ShardKeyPattern =>
  ShardKeyPattern.parse(findField(collection, 'key')!.slice(), { compoundHashed: true })
