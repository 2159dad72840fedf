/**
 * A collection may have a million chunks: as long as they are in key order, they are not collected
 * in a list.
 */
import type { PlacementVersion } from '../model/placement-version.js'
import { blockSizeMax, majorIn, minorIn, ownerIn, rowLength, type Block } from './block.js'
import { BoundList } from './bound-list.js'
import { PagedList } from './paged-list.js'
import { isNewer, ownersOf, type ChunkEntry, type ShardTotals, type TableState } from './table-state.js'

export interface KeyBounds {
  readonly globalMin: string
  readonly globalMax: string
}

/** Chunks in a block that others follow; leaves it room to grow. */
const firstSize = blockSizeMax / 2

type Generation = readonly [epoch: string, seconds: number, increment: number]

/**
 * @param chunks in any order
 * @throws Error if they do not fill the key space from global minimum to maximum without gap or
 *   overlap
 */
export function buildState(generation: Generation, bounds: KeyBounds, chunks: Iterable<ChunkEntry>): TableState {
  const inOrder = new TableBuilder(bounds)
  let all: ChunkEntry[] | null = null
  for (const chunk of chunks) {
    if (all !== null) all.push(chunk)
    else if (!inOrder.add(chunk)) all = [...inOrder.chunks(), chunk]
  }
  if (all === null) return inOrder.finish(generation)
  all.sort((a, b) => (a.min < b.min ? -1 : a.min > b.min ? 1 : 0))
  const sorted = new TableBuilder(bounds)
  for (const chunk of all) if (!sorted.add(chunk)) throw new Error('chunks leave a gap or overlap')
  return sorted.finish(generation)
}

class TableBuilder {
  readonly #bounds: KeyBounds
  readonly #blocks: Block[] = []
  /** Chunks that are not in a block yet. */
  readonly #last = { mins: [] as string[], rows: [] as number[] }
  #count = 0
  readonly #numbers = new Map<string, number>()
  readonly #totals: { -readonly [K in keyof ShardTotals]: ShardTotals[K] }[] = []
  /** Where the next chunk must begin. */
  #end: string
  #major = 0
  #minor = 0

  constructor(bounds: KeyBounds) {
    this.#bounds = bounds
    this.#end = bounds.globalMin
  }

  /**
   * False: the chunk was not added because it is empty or does not begin where the last one ends.
   */
  add({ min, max, shard, major, minor }: ChunkEntry): boolean {
    if (min !== this.#end || max <= min) return false
    this.#end = max
    let number = this.#numbers.get(shard)
    if (number === undefined) {
      number = this.#numbers.size
      this.#numbers.set(shard, number)
      this.#totals.push({ chunks: 0, major: 0, minor: 0 })
    }
    const { mins, rows } = this.#last
    if (mins.length === blockSizeMax)
      this.#blocks.push({ mins: mins.splice(0, firstSize), rows: rows.splice(0, firstSize * rowLength) })
    mins.push(min)
    rows.push(number, major, minor)
    this.#count++
    const total = this.#totals[number]!
    total.chunks++
    if (isNewer(major, minor, total.major, total.minor)) {
      total.major = major
      total.minor = minor
    }
    if (isNewer(major, minor, this.#major, this.#minor)) {
      this.#major = major
      this.#minor = minor
    }
    return true
  }

  *chunks(): Generator<ChunkEntry, void, void> {
    const shards = [...this.#numbers.keys()]
    const blocks = [...this.#blocks, this.#last]
    for (const [b, block] of blocks.entries())
      for (const [i, min] of block.mins.entries()) {
        const max = block.mins[i + 1] ?? blocks[b + 1]?.mins[0] ?? this.#end
        yield { min, max, shard: shards[ownerIn(block, i)]!, major: majorIn(block, i), minor: minorIn(block, i) }
      }
  }

  finish(generation: Generation): TableState {
    const { globalMax } = this.#bounds
    if (this.#end !== globalMax) throw new Error('chunks do not reach the end of the key space')
    const version: PlacementVersion = [...generation, this.#major, this.#minor]
    const blocks = [...this.#blocks, { mins: this.#last.mins.slice(), rows: this.#last.rows.slice() }]
    const shardIds = [...this.#numbers.keys()]
    const totals = PagedList.of<ShardTotals>(this.#totals)
    return {
      version,
      globalMax,
      chunkCount: this.#count,
      owners: ownersOf(shardIds, totals),
      shardIds,
      numbers: this.#numbers,
      totals,
      blocks: PagedList.of(blocks),
      firsts: BoundList.of(blocks.map((block) => block.mins[0]!)),
    }
  }
}
