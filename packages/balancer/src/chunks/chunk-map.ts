/** The chunks of one collection as cached between rounds: a round reads only what has changed. */
import type { PlacementVersionTuple, ReplyOf } from '@shardlab/actor'
import { findField, readInt32 } from '@shardlab/bson'
import { comparePlacement, generationOf, sameGeneration, ShardKeyPattern, type RoutingTable } from '@shardlab/sharding'
import { readChunk, type ChunkFields } from './chunk-fields.js'
import { ChunkPlacesDraft, placesOf, type ChunkPlaces } from './chunk-places.js'
import { BoundsWriter, PackedChunk, type ChunkFacts, type KnownChunk } from './known-chunk.js'
import type { ChunkSequence } from '../policy/distribution.js'

export type { KnownChunk }

/** Immutable. Applying an answer takes time in proportion to its length. */
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

  /**
   * @returns the chunks after the answer; null: the collection is not sharded
   * @param known the chunks whose version the request sent as `since`
   * @param table a routing table whose KeyStrings are reused where equal: saves the memory of a
   *   million strings
   */
  static after(
    known: ChunkMap | null,
    { collection, chunks, full }: ReplyOf<'config.get-collection'>,
    table: RoutingTable | null = null,
  ): ChunkMap | null {
    if (collection === null) return null
    const generation = generationOf(collection)
    const base = full || known === null || !sameGeneration(known.version, [...generation, 0, 0]) ? null : known
    if (base !== null && chunks.length === 0) return base
    const shardKey =
      base?.shardKey ?? ShardKeyPattern.parse(findField(collection, 'key')!.slice(), { compoundHashed: true })
    const { changed, newest } = new AnswerReader(shardKey, base, table).read(chunks)
    const own: PlacementVersionTuple = [...generation, ...newest]
    if (base === null) return new ChunkMap(shardKey, own, placesOf(inKeyOrder(changed)))
    const draft = new ChunkPlacesDraft(base.#places)
    for (const chunk of changed) draft.place(chunk)
    return new ChunkMap(shardKey, comparePlacement(base.version, own) < 0 ? own : base.version, draft.finish())
  }

  get count(): number {
    return this.#places.all.length
  }

  /** A new list of all chunks in key order. */
  get chunks(): readonly KnownChunk[] {
    return this.#places.all.toArray()
  }

  /** The chunks of each shard in key order. Shards without chunks are missing. */
  get byShard(): ReadonlyMap<string, ChunkSequence<KnownChunk>> {
    return this.#places.byShard
  }

  /** A copy with one chunk marked jumbo: the catalog gives such a chunk no new version. */
  withJumbo(min: string): ChunkMap {
    const chunk = this.#at(min)
    if (chunk === undefined) return this
    const draft = new ChunkPlacesDraft(this.#places)
    const { shard, estimatedBytes } = chunk
    draft.place(chunk.with({ shard, isJumbo: true, estimatedBytes }))
    return new ChunkMap(this.shardKey, this.version, draft.finish())
  }

  /** The chunk that starts there. */
  at(min: string): KnownChunk | undefined {
    return this.#at(min)
  }

  #at(min: string): PackedChunk | undefined {
    const chunk = this.#places.all.before(min)
    return chunk?.min === min ? chunk : undefined
  }

  /** The chunk that contains this key. */
  holding(key: string): KnownChunk | undefined {
    const chunk = this.#places.all.before(key)
    return chunk !== undefined && chunk.min <= key && key < chunk.max ? chunk : undefined
  }
}

/**
 * Parses the chunks of an answer. Bounds shared by several chunks, or already known, are stored
 * once and outside the answer's buffer.
 */
class AnswerReader {
  readonly #shardKey: ShardKeyPattern
  readonly #base: ChunkMap | null
  /** Upper bounds of the table's chunks; null: no table, or its chunks differ from the answer's. */
  #nextBound: (() => string | undefined) | null
  /** By shard: the facts of chunks that are neither jumbo nor measured. */
  readonly #plain = new Map<string, ChunkFacts>()
  /** The latest of {@link #plain}: neighbours often share a shard. */
  #lastPlain: ChunkFacts | null = null

  constructor(shardKey: ShardKeyPattern, base: ChunkMap | null, table: RoutingTable | null) {
    this.#shardKey = shardKey
    this.#base = base
    this.#nextBound = base === null && table !== null ? table.upperBounds() : null
  }

  /**
   * Skips documents that are not chunks: clients can write anything into config.chunks. Of known
   * chunks some change only their version.
   */
  read(documents: readonly Uint8Array[]): {
    readonly changed: PackedChunk[]
    readonly newest: readonly [major: number, minor: number]
  } {
    const changed: PackedChunk[] = []
    const bounds = new BoundsWriter(documents.length)
    let newest: readonly [major: number, minor: number] = [0, 0]
    let before: { readonly fields: ChunkFields; readonly max: string; readonly isWritten: boolean } | null = null
    for (const document of documents) {
      const fields = readChunk(document)
      const { bytes, minAt, maxAt, major, minor } = fields
      // Most chunks of a full answer start where the one before them ends.
      const continues: boolean =
        before !== null && sameDocuments(before.fields.bytes, before.fields.maxAt, bytes, minAt)
      const min: string | undefined = continues ? before!.max : this.#shardKey.keyStringOfBound(bytes, minAt)
      if (min === undefined) continue
      if (major > newest[0] || (major === newest[0] && minor > newest[1])) newest = [major, minor]
      const max = this.#upperBound(bytes, maxAt)
      if (max === undefined) continue
      const facts = this.#factsOf(fields)
      const there: KnownChunk | undefined = this.#base?.at(min)
      const known: PackedChunk | null = there instanceof PackedChunk && there.max === max ? there.with(facts) : null
      const chunk = known ?? bounds.chunk(min, max, facts, fields, continues && before!.isWritten)
      if (chunk !== there) changed.push(chunk)
      before = { fields, max, isWritten: known === null }
    }
    bounds.finish()
    return { changed, newest }
  }

  #upperBound(bytes: Uint8Array, start: number): string | undefined {
    const max = this.#shardKey.keyStringOfBound(bytes, start)
    if (this.#nextBound === null) return max
    const same = this.#nextBound()
    if (same === max) return same
    this.#nextBound = null
    return max
  }

  #factsOf({ shard, isJumbo, estimatedBytes }: ChunkFields): ChunkFacts {
    if (isJumbo || estimatedBytes !== null) return { shard, isJumbo, estimatedBytes }
    if (this.#lastPlain?.shard === shard) return this.#lastPlain
    let plain = this.#plain.get(shard)
    if (plain === undefined) this.#plain.set(shard, (plain = { shard, isJumbo, estimatedBytes }))
    this.#lastPlain = plain
    return plain
  }
}

/** Chunks that never moved arrive in key order. */
function inKeyOrder(chunks: PackedChunk[]): readonly PackedChunk[] {
  const isSorted = chunks.every(({ min }, i) => i === 0 || chunks[i - 1]!.min <= min)
  return isSorted ? chunks : chunks.sort(({ min: a }, { min: b }) => (a < b ? -1 : a > b ? 1 : 0))
}

/** Whether the documents that start there are equal byte by byte. */
function sameDocuments(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): boolean {
  const length = readInt32(a, aStart)
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false
  return true
}
