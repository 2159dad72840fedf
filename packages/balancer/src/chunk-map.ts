/** The chunks of one collection as the balancer remembers them between rounds: only what has changed is asked for again. */
import type { PlacementVersionTuple, ReplyOf } from '@shardlab/actor'
import { findField, sameBytes } from '@shardlab/bson'
import { comparePlacement, generationOf, parseChunk, sameGeneration, ShardKeyPattern, type Chunk } from '@shardlab/sharding'
import { ChunkDraft, chunkBefore, placesOf, type ChunkPlaces } from './chunk-places.js'
import type { ChunkPlace } from './policy/distribution.js'

/** A chunk with its bounds as config.chunks has them. */
export interface KnownChunk extends ChunkPlace {
  readonly minDocument: Uint8Array
  readonly maxDocument: Uint8Array
  /** What a defragmentation has found in it; null: nothing. As it was when the chunk got its version. */
  readonly estimatedBytes: number | null
}

/** Immutable; what an answer changes gives a new one, which costs as much as the answer is long. */
export class ChunkMap {
  readonly shardKey: ShardKeyPattern
  /** The newest version of all chunks. */
  readonly version: PlacementVersionTuple
  readonly #places: ChunkPlaces<KnownChunk>

  private constructor(shardKey: ShardKeyPattern, version: PlacementVersionTuple, places: ChunkPlaces<KnownChunk>) {
    this.shardKey = shardKey
    this.version = version
    this.#places = places
  }

  /** What is known after the answer; `known` is what the request's `since` was taken from. Null: the collection is not sharded. */
  static after(known: ChunkMap | null, { collection, chunks, full }: ReplyOf<'config.get-collection'>): ChunkMap | null {
    if (collection === null) return null
    const generation = generationOf(collection)
    const base = full || known === null || !sameGeneration(known.version, [...generation, 0, 0]) ? null : known
    if (base !== null && chunks.length === 0) return base
    const shardKey = base?.shardKey ?? ShardKeyPattern.parse(findField(collection, 'key')!.slice(), { compoundHashed: true })
    let version: PlacementVersionTuple = base?.version ?? [...generation, 0, 0]
    const parsed: [min: string, chunk: Chunk, document: Uint8Array][] = []
    for (const document of chunks) {
      const chunk = parseChunk(document)
      const { major, minor } = chunk
      const min = shardKey.keyStringOfBound(chunk.min)
      // What clients have written into config.chunks need not be a chunk.
      if (min === undefined) continue
      parsed.push([min, chunk, document])
      const own: PlacementVersionTuple = [...generation, major, minor]
      if (comparePlacement(version, own) < 0) version = own
    }
    const changed = knownChunks(shardKey, parsed)
    if (base === null) return new ChunkMap(shardKey, version, placesOf(changed))
    const draft = new ChunkDraft(base.#places)
    for (const chunk of changed) draft.place(chunk)
    return new ChunkMap(shardKey, version, draft.finish())
  }

  /** How many there are. */
  get count(): number {
    return this.#places.count
  }

  /** All of them in key order: a new list each time. */
  get chunks(): readonly KnownChunk[] {
    return this.#places.blocks.flat()
  }

  /** Each shard's, in key order; shards without chunks are missing. */
  get byShard(): ReadonlyMap<string, readonly KnownChunk[]> {
    return this.#places.byShard
  }

  /** The same with one chunk marked: the catalog gives such a chunk no new version. */
  withJumbo(min: string): ChunkMap {
    const chunk = this.at(min)
    if (chunk === undefined) return this
    const draft = new ChunkDraft(this.#places)
    draft.place({ ...chunk, isJumbo: true })
    return new ChunkMap(this.shardKey, this.version, draft.finish())
  }

  /** The chunk that begins there. */
  at(min: string): KnownChunk | undefined {
    const chunk = chunkBefore(this.#places, min)
    return chunk?.min === min ? chunk : undefined
  }

  /** The chunk in which this key lies. */
  holding(key: string): KnownChunk | undefined {
    const chunk = chunkBefore(this.#places, key)
    return chunk !== undefined && chunk.min <= key && key < chunk.max ? chunk : undefined
  }
}

/** In key order. What two of them share, a bound and names of shards, is kept once, and apart from the answer in which it came. */
function knownChunks(shardKey: ShardKeyPattern, parsed: [min: string, chunk: Chunk, document: Uint8Array][]): KnownChunk[] {
  parsed.sort(([a], [b]) => (a < b ? -1 : 1))
  const bounds = new BoundCopies(parsed.reduce((sum, [, { min, max }]) => sum + min.length + max.length, 0))
  const names = new Map<string, string>()
  const known: KnownChunk[] = []
  let next: { readonly text: string; readonly document: Uint8Array } | null = null
  for (let i = parsed.length - 1; i >= 0; i--) {
    const [min, chunk, document] = parsed[i]!
    const isShared: boolean = next !== null && sameBytes(next.document, chunk.max)
    const max: string | undefined = isShared ? next!.text : shardKey.keyStringOfBound(chunk.max)
    if (max === undefined) continue
    const minDocument = bounds.copy(chunk.min)
    const shard = names.get(chunk.shard) ?? chunk.shard
    names.set(shard, shard)
    const estimate = findField(document, 'estimatedDataSizeBytes')
    known.push({
      min,
      max,
      shard,
      isJumbo: findField(document, 'jumbo')?.isTruthy() === true,
      minDocument,
      maxDocument: isShared ? next!.document : bounds.copy(chunk.max),
      estimatedBytes: estimate?.isNumber() === true ? estimate.asNumber() : null,
    })
    next = { text: min, document: minDocument }
  }
  return known.reverse()
}

/** Many small documents in one piece of memory. */
class BoundCopies {
  readonly #bytes: Uint8Array
  #used = 0

  constructor(sizeBytes: number) {
    this.#bytes = new Uint8Array(sizeBytes)
  }

  copy(document: Uint8Array): Uint8Array {
    const start = this.#used
    this.#bytes.set(document, start)
    this.#used += document.length
    return this.#bytes.subarray(start, this.#used)
  }
}
