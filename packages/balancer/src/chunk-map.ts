/** The chunks of one collection as the balancer remembers them between rounds: only what has changed is asked for again. */
import type { PlacementVersionTuple, ReplyOf } from '@shardlab/actor'
import { decode, findField } from '@shardlab/bson'
import { comparePlacement, generationOf, parseChunk, sameGeneration, ShardKeyPattern } from '@shardlab/sharding'
import type { ChunkPlace } from './policy/distribution.js'

/** A chunk with its bounds as config.chunks has them. */
export interface KnownChunk extends ChunkPlace {
  readonly minDocument: Uint8Array
  readonly maxDocument: Uint8Array
  /** What a defragmentation has found in it; null: nothing. As it was when the chunk got its version. */
  readonly estimatedBytes: number | null
}

export class ChunkMap {
  readonly shardKey: ShardKeyPattern
  /** The newest version of all chunks. */
  readonly version: PlacementVersionTuple
  /** In key order. */
  readonly chunks: readonly KnownChunk[]

  private constructor(shardKey: ShardKeyPattern, version: PlacementVersionTuple, chunks: readonly KnownChunk[]) {
    this.shardKey = shardKey
    this.version = version
    this.chunks = chunks
  }

  /** What is known after the answer; `known` is what the request's `since` was taken from. Null: the collection is not sharded. */
  static after(known: ChunkMap | null, { collection, chunks, full }: ReplyOf<'config.get-collection'>): ChunkMap | null {
    if (collection === null) return null
    const generation = generationOf(decode(collection))
    const base = full || known === null || !sameGeneration(known.version, [...generation, 0, 0]) ? null : known
    if (base !== null && chunks.length === 0) return base
    const shardKey = base?.shardKey ?? ShardKeyPattern.parse(findField(collection, 'key')!.slice(), { compoundHashed: true })
    let version: PlacementVersionTuple = base?.version ?? [...generation, 0, 0]
    let places = base?.chunks ?? []
    const changed: KnownChunk[] = []
    for (const document of chunks) {
      const { min, max, shard, major, minor } = parseChunk(document)
      const low = shardKey.keyStringOfBound(min)
      const high = shardKey.keyStringOfBound(max)
      // What clients have written into config.chunks need not be a chunk.
      if (low === undefined || high === undefined) continue
      const isJumbo = findField(document, 'jumbo')?.isTruthy() === true
      const estimate = findField(document, 'estimatedDataSizeBytes')
      const estimatedBytes = estimate?.isNumber() === true ? estimate.asNumber() : null
      const chunk: KnownChunk = { min: low, max: high, shard, isJumbo, minDocument: min, maxDocument: max, estimatedBytes }
      const own: PlacementVersionTuple = [...generation, major, minor]
      if (comparePlacement(version, own) < 0) version = own
      if (base === null) changed.push(chunk)
      else places = [...places.filter((each) => each.max <= low || each.min >= high), chunk]
    }
    const all = base === null ? changed : [...places]
    return new ChunkMap(
      shardKey,
      version,
      all.sort((a, b) => (a.min < b.min ? -1 : 1)),
    )
  }

  /** The same with one chunk marked: the catalog gives such a chunk no new version. */
  withJumbo(min: string): ChunkMap {
    return new ChunkMap(
      this.shardKey,
      this.version,
      this.chunks.map((chunk) => (chunk.min === min ? { ...chunk, isJumbo: true } : chunk)),
    )
  }

  /** The chunk that begins there. */
  at(min: string): KnownChunk | undefined {
    return this.chunks.find((chunk) => chunk.min === min)
  }
}
