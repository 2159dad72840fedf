/** The chunks of one collection, cached between rounds: a round reads only what has changed. */
import type { PlacementVersionTuple } from '@shardlab/actor'
import { findField, readInt32 } from '@shardlab/bson'
import { comparePlacement, generationOf, sameGeneration, ShardKeyPattern } from '@shardlab/sharding'
import { readChunk, type ChunkFields } from './chunk-fields.js'
import { ChunkPlacesDraft, placesOf, type ChunkPlaces } from './chunk-places.js'
import { BoundsWriter, PackedChunk, type ChunkFacts, type KnownChunk } from './known-chunk.js'
import type { ChunkSequence } from '../policy/distribution.js'

export type { KnownChunk }

/** Immutable. Applying a reply takes time in proportion to its length. */
export class ChunkMap {
  readonly shardKey: ShardKeyPattern
  readonly version: PlacementVersionTuple
  readonly #places: ChunkPlaces<PackedChunk>

  private constructor(shardKey: ShardKeyPattern, version: PlacementVersionTuple, places: ChunkPlaces<PackedChunk>) {
    this.shardKey = shardKey
    this.version = version
    this.#places = places
  }

  /**
   * Starts to apply a reply of the config server, which may have several parts.
   * @param known the chunks whose version the request sent as `since`; null: all chunks follow
   */
  static update(known: ChunkMap | null, collection: Uint8Array): ChunkMapUpdate {
    const generation = generationOf(collection)
    const base = known === null || !sameGeneration(known.version, [...generation, 0, 0]) ? null : known
    const shardKey =
      base?.shardKey ?? ShardKeyPattern.parse(findField(collection, 'key')!.slice(), { compoundHashed: true })
    const reader = new ChunkReader(shardKey, base)
    const version = (): PlacementVersionTuple => [...generation, ...reader.newest]
    return {
      add: (documents) => reader.read(documents),
      version,
      finish() {
        const { changed } = reader
        if (base === null) return new ChunkMap(shardKey, version(), placesOfAll(changed))
        const isNewer = comparePlacement(base.version, version()) < 0
        if (changed.length === 0 && !isNewer) return base
        const draft = new ChunkPlacesDraft(base.#places)
        for (const chunk of changed) draft.place(chunk)
        return new ChunkMap(shardKey, isNewer ? version() : base.version, draft.finish())
      },
    }
  }

  get count(): number {
    return this.#places.all.length
  }

  get chunks(): readonly KnownChunk[] {
    return this.#places.all.toArray()
  }

  /** In key order. Shards without chunks are missing. */
  get byShard(): ReadonlyMap<string, ChunkSequence<KnownChunk>> {
    return this.#places.byShard
  }

  /** The catalog gives a jumbo chunk no new version, so mark it in a copy. */
  withJumbo(min: string): ChunkMap {
    const chunk = this.#at(min)
    if (chunk === undefined) return this
    const draft = new ChunkPlacesDraft(this.#places)
    const { shard, estimatedBytes } = chunk
    draft.place(chunk.with({ shard, isJumbo: true, estimatedBytes }))
    return new ChunkMap(this.shardKey, this.version, draft.finish())
  }

  at(min: string): KnownChunk | undefined {
    return this.#at(min)
  }

  #at(min: string): PackedChunk | undefined {
    const chunk = this.#places.all.before(min)
    return chunk?.min === min ? chunk : undefined
  }

  holding(key: string): KnownChunk | undefined {
    const chunk = this.#places.all.before(key)
    return chunk !== undefined && chunk.min <= key && key < chunk.max ? chunk : undefined
  }
}

export interface ChunkMapUpdate {
  /**
   * @param documents of config.chunks, oldest version first, none older than those of earlier calls
   */
  add(documents: readonly Uint8Array[]): void
  /** Of the added documents; 0|0: none. */
  version(): PlacementVersionTuple
  finish(): ChunkMap
}

/**
 * Stores bounds once that several chunks share or that are already known, outside of the reply's
 * buffer.
 */
class ChunkReader {
  readonly #shardKey: ShardKeyPattern
  readonly #base: ChunkMap | null
  readonly changed: PackedChunk[] = []
  newest: readonly [major: number, minor: number] = [0, 0]
  /** By shard: chunks that are neither jumbo nor measured share these facts. */
  readonly #plain = new Map<string, ChunkFacts>()
  /** The latest of {@link #plain}, because neighbours often share a shard. */
  #lastPlain: ChunkFacts | null = null

  constructor(shardKey: ShardKeyPattern, base: ChunkMap | null) {
    this.#shardKey = shardKey
    this.#base = base
  }

  /**
   * Skips documents that are not chunks: clients can write anything into config.chunks. Some known
   * chunks change only their version.
   */
  read(documents: readonly Uint8Array[]): void {
    const bounds = new BoundsWriter(documents.length)
    let before: { readonly fields: ChunkFields; readonly max: string; readonly isWritten: boolean } | null = null
    for (const document of documents) {
      const fields = readChunk(document)
      const { bytes, minAt, maxAt, major, minor } = fields
      if (major > this.newest[0] || (major === this.newest[0] && minor > this.newest[1])) this.newest = [major, minor]
      // Most chunks of a full reply start where the one before them ends.
      const continues: boolean =
        before !== null && sameDocuments(before.fields.bytes, before.fields.maxAt, bytes, minAt)
      const min: string | undefined = continues ? before!.max : this.#shardKey.keyStringOfBound(bytes, minAt)
      const max: string | undefined = min === undefined ? undefined : this.#shardKey.keyStringOfBound(bytes, maxAt)
      if (min === undefined || max === undefined) continue
      const facts = this.#factsOf(fields)
      const there: KnownChunk | undefined = this.#base?.at(min)
      const known: PackedChunk | null = there instanceof PackedChunk && there.max === max ? there.with(facts) : null
      const chunk = known ?? bounds.chunk(min, max, facts, fields, continues && before!.isWritten)
      if (chunk !== there) this.changed.push(chunk)
      before = { fields, max, isWritten: known === null }
    }
    bounds.finish()
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

/**
 * @param chunks oldest version first; a chunk that changed between two parts of a reply is in both
 */
function placesOfAll(chunks: readonly PackedChunk[]): ChunkPlaces<PackedChunk> {
  const sorted = inKeyOrder(chunks)
  if (sorted.every(({ min }, i) => i === 0 || sorted[i - 1]!.max <= min)) return placesOf(sorted)
  const draft = new ChunkPlacesDraft<PackedChunk>(placesOf([]))
  for (const chunk of chunks) draft.place(chunk)
  return draft.finish()
}

function inKeyOrder(chunks: readonly PackedChunk[]): readonly PackedChunk[] {
  const isSorted = chunks.every(({ min }, i) => i === 0 || chunks[i - 1]!.min <= min)
  return isSorted ? chunks : chunks.toSorted(({ min: a }, { min: b }) => (a < b ? -1 : a > b ? 1 : 0))
}

function sameDocuments(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): boolean {
  const length = readInt32(a, aStart)
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false
  return true
}
