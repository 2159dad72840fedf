/** The chunks of one collection as the balancer remembers them between rounds: only what has changed is asked for again. */
import type { PlacementVersionTuple, ReplyOf } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import { comparePlacement, generationOf, parseChunk, sameGeneration, ShardKeyPattern, type Chunk } from '@shardlab/sharding'
import { ChunkDraft, chunkBefore, placesOf, type ChunkPlaces } from './chunk-places.js'
import { BoundsWriter, PackedChunk, type KnownChunk } from './known-chunk.js'

export type { KnownChunk }

/** Immutable; what an answer changes gives a new one, which costs as much as the answer is long. */
export class ChunkMap {
  readonly shardKey: ShardKeyPattern
  /** The newest version of all chunks. */
  readonly version: PlacementVersionTuple
  readonly #places: ChunkPlaces<PackedChunk>

  private constructor(shardKey: ShardKeyPattern, version: PlacementVersionTuple, places: ChunkPlaces<PackedChunk>) {
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
    const changed = knownChunks(shardKey, base, parsed)
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
    const chunk = this.#at(min)
    if (chunk === undefined) return this
    const draft = new ChunkDraft(this.#places)
    draft.place(chunk.with({ isJumbo: true }))
    return new ChunkMap(this.shardKey, this.version, draft.finish())
  }

  /** The chunk that begins there. */
  at(min: string): KnownChunk | undefined {
    return this.#at(min)
  }

  #at(min: string): PackedChunk | undefined {
    const chunk = chunkBefore(this.#places, min)
    return chunk?.min === min ? chunk : undefined
  }

  /** The chunk in which this key lies. */
  holding(key: string): KnownChunk | undefined {
    const chunk = chunkBefore(this.#places, key)
    return chunk !== undefined && chunk.min <= key && key < chunk.max ? chunk : undefined
  }
}

/** In key order. What several of them share, or chunks that are known already, is kept once, and apart from the answer in which it came. */
function knownChunks(
  shardKey: ShardKeyPattern,
  base: ChunkMap | null,
  parsed: [min: string, chunk: Chunk, document: Uint8Array][],
): PackedChunk[] {
  parsed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const bounds = new BoundsWriter()
  const names = new Map<string, string>()
  const known: PackedChunk[] = []
  for (let i = parsed.length - 1; i >= 0; i--) {
    const [min, chunk, document] = parsed[i]!
    const behind = known.at(-1)
    const next = behind?.beginsWith(chunk.max) === true ? behind : null
    const max = next === null ? shardKey.keyStringOfBound(chunk.max) : next.min
    if (max === undefined) continue
    let shard = names.get(chunk.shard)
    if (shard === undefined) names.set(chunk.shard, (shard = chunk.shard))
    const estimate = findField(document, 'estimatedDataSizeBytes')
    const facts = {
      shard,
      isJumbo: findField(document, 'jumbo')?.isTruthy() === true,
      estimatedBytes: estimate?.isNumber() === true ? estimate.asNumber() : null,
    }
    const before = base?.at(min)
    // Nothing but its owner or its version has changed.
    known.push(before instanceof PackedChunk && before.max === max ? before.with(facts) : bounds.chunk({ ...facts, min, max }, chunk, next))
  }
  bounds.finish()
  return known.reverse()
}
