/**
 * The owner of each part of a collection's key space. Immutable: changes give a new table that
 * shares all unchanged blocks, so a reader keeps a consistent table.
 *
 * Two levels: blocks of at most 128 chunks, each with the chunks' lower bounds as KeyStrings and
 * their owners and versions. A chunk ends where the next one begins, the last one at the global
 * maximum, so gaps and overlaps cannot be represented. Server: chunk_manager.h,
 * RoutingTableHistory.
 */
import type { PlacementVersion } from '../model/placement-version.js'
import { majorIn, minorIn, ownerIn, positionIn, rowLength } from './block.js'
import { buildState, type KeyBounds } from './table-builder.js'
import { changedState, isNewer, type ChunkEntry, type TableState } from './table-state.js'

export type { ChunkEntry }

/** Both ends included. */
export type KeyStringRange = readonly [low: string, high: string]

export class RoutingTable {
  readonly #state: TableState

  private constructor(state: TableState) {
    this.#state = state
  }

  /**
   * @param chunks all chunks of the collection, in any order
   * @throws Error if they do not fill the key space from global minimum to maximum without gap or
   *   overlap
   */
  static build(
    generation: readonly [epoch: string, seconds: number, increment: number],
    bounds: KeyBounds,
    chunks: Iterable<ChunkEntry>,
  ): RoutingTable {
    return new RoutingTable(buildState(generation, bounds, chunks))
  }

  /** The newest version of any chunk. */
  get version(): PlacementVersion {
    return this.#state.version
  }

  get globalMax(): string {
    return this.#state.globalMax
  }

  /** Every shard that owns or has owned a chunk; {@link owners} are the current ones. */
  get shardIds(): readonly string[] {
    return this.#state.shardIds
  }

  get chunkCount(): number {
    return this.#state.chunkCount
  }

  /**
   * Each change replaces all chunks that it covers: splits, merges and moves.
   * @param changes of the same generation, each newer than the chunks that it replaces
   * @throws Error for a range that is empty or exceeds the key space
   */
  withChanges(changes: readonly ChunkEntry[]): RoutingTable {
    const { firsts, globalMax } = this.#state
    const globalMin = firsts.at(0)!
    for (const { min, max } of changes)
      if (min >= max || min < globalMin || max > globalMax)
        throw new Error('the range of a changed chunk is empty or exceeds the key space')
    return new RoutingTable(changedState(this.#state, changes))
  }

  shardOf(keyString: string): string {
    const { blocks, firsts, shardIds } = this.#state
    const block = blocks.at(firsts.position(keyString))
    return shardIds[ownerIn(block, positionIn(block.mins, keyString))]!
  }

  /** Of the chunk that has the key. */
  lowerBoundOf(keyString: string): string {
    const { blocks, firsts } = this.#state
    const { mins } = blocks.at(firsts.position(keyString))
    return mins[positionIn(mins, keyString)]!
  }

  /**
   * The owners, sorted, and the number of all chunks in these ranges.
   * @param ranges ascending by their lower ends; upper ends may be above the global maximum
   */
  shardsInRanges(ranges: readonly KeyStringRange[]): { readonly shards: string[]; readonly chunks: number } {
    const { blocks, firsts, shardIds, owners } = this.#state
    const seen = new Uint8Array(shardIds.length)
    const shards: string[] = []
    let chunks = 0
    // The chunk after the last counted one.
    let nextBlock = 0
    let nextChunk = 0
    for (const [low, high] of ranges) {
      let b = firsts.position(low)
      let i = positionIn(blocks.at(b).mins, low)
      if (b < nextBlock || (b === nextBlock && i < nextChunk)) {
        b = nextBlock
        i = nextChunk
      }
      const lastBlock = firsts.position(high)
      const lastChunk = positionIn(blocks.at(lastBlock).mins, high)
      for (; b <= lastBlock; b++, i = 0) {
        const { mins, rows } = blocks.at(b)
        const end = b === lastBlock ? lastChunk + 1 : mins.length
        if (end <= i) continue
        chunks += end - i
        for (; i < end && shards.length < owners.length; i++) {
          const owner = rows[i * rowLength]!
          if (seen[owner] !== 0) continue
          seen[owner] = 1
          shards.push(shardIds[owner]!)
        }
        nextBlock = b
        nextChunk = end
      }
    }
    return { shards: shards.sort(), chunks }
  }

  /** Sorted. */
  owners(): readonly string[] {
    return this.#state.owners
  }

  chunksOn(shard: string): number {
    const number = this.#state.numbers.get(shard)
    return number === undefined ? 0 : this.#state.totals.at(number).chunks
  }

  /** The newest version of its chunks; 0|0 if it owns none. */
  versionOn(shard: string): PlacementVersion {
    const { version, numbers, totals } = this.#state
    const number = numbers.get(shard)
    const total = number === undefined ? undefined : totals.at(number)
    return total === undefined || total.chunks === 0
      ? [version[0], version[1], version[2], 0, 0]
      : [version[0], version[1], version[2], total.major, total.minor]
  }

  lowestShard(): string {
    return this.#state.shardIds[ownerIn(this.#state.blocks.at(0), 0)]!
  }

  chunkAt(keyString: string): ChunkEntry {
    const { blocks, firsts } = this.#state
    const b = firsts.position(keyString)
    return this.#entry(b, positionIn(blocks.at(b).mins, keyString))
  }

  /** In key order. With `from`, starts at the chunk that contains that key. */
  *chunks(from?: string): IterableIterator<ChunkEntry> {
    const { blocks, firsts } = this.#state
    let b = from === undefined ? 0 : firsts.position(from)
    let i = from === undefined ? 0 : positionIn(blocks.at(b).mins, from)
    for (; b < blocks.length; b++, i = 0) {
      const { length } = blocks.at(b).mins
      for (; i < length; i++) yield this.#entry(b, i)
    }
  }

  /** The version must be of this generation. */
  countNewerThan([, , , major, minor]: PlacementVersion): number {
    let count = 0
    for (const block of this.#state.blocks)
      for (let i = 0; i < block.mins.length; i++)
        if (isNewer(majorIn(block, i), minorIn(block, i), major, minor)) count++
    return count
  }

  /** Runs of adjacent chunks on one shard, in key order, by their lower bounds. */
  *runs(): IterableIterator<readonly [min: string, shard: string]> {
    const { blocks, shardIds } = this.#state
    let last = -1
    for (const { mins, rows } of blocks) {
      for (let i = 0; i < mins.length; i++) {
        const owner = rows[i * rowLength]!
        if (owner !== last) yield [mins[i]!, shardIds[owner]!]
        last = owner
      }
    }
  }

  /**
   * Lower bounds of `count` chunks, in key order, about equally many chunks apart.
   * @param count at most the number of chunks
   */
  evenlySpread(count: number): string[] {
    const { blocks, chunkCount } = this.#state
    const found: string[] = []
    let before = 0
    for (const { mins } of blocks) {
      for (let next = 0; found.length < count;) {
        next = Math.floor((found.length * chunkCount) / count) - before
        if (next >= mins.length) break
        found.push(mins[next]!)
      }
      before += mins.length
    }
    return found
  }

  #entry(b: number, i: number): ChunkEntry {
    const { blocks, firsts, shardIds, globalMax } = this.#state
    const block = blocks.at(b)
    const max = block.mins[i + 1] ?? firsts.at(b + 1) ?? globalMax
    return {
      min: block.mins[i]!,
      max,
      shard: shardIds[ownerIn(block, i)]!,
      major: majorIn(block, i),
      minor: minorIn(block, i),
    }
  }
}
