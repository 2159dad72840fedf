import type { PlacementVersion } from '../model/placement-version.js'
import { splitBlock, lowerBound, majorIn, minorIn, ownerIn, rowLength, type Block } from './block.js'
import { BoundList } from './bound-list.js'
import { PagedList, type PagedListDraft } from './paged-list.js'

export interface ChunkEntry {
  /** A KeyString (included). */
  readonly min: string
  /** A KeyString (excluded). */
  readonly max: string
  readonly shard: string
  readonly major: number
  readonly minor: number
}

export interface ShardTotals {
  readonly chunks: number
  /** The newest version of its chunks. */
  readonly major: number
  readonly minor: number
}

export interface TableState {
  readonly version: PlacementVersion
  readonly globalMax: string
  readonly chunkCount: number
  /** Sorted. */
  readonly owners: readonly string[]
  readonly shardIds: readonly string[]
  readonly numbers: ReadonlyMap<string, number>
  /** By the shard's number. */
  readonly totals: PagedList<ShardTotals>
  readonly blocks: PagedList<Block>
  readonly firsts: BoundList
}

const noChunks: ShardTotals = { chunks: 0, major: 0, minor: 0 }

/** @param changes in any order; their ranges are not empty and are within the key space */
export function changedState(state: TableState, changes: readonly ChunkEntry[]): TableState {
  const draft = new Draft(state)
  for (const chunk of inOrder(changes)) draft.apply(chunk)
  return draft.finish()
}

export function ownersOf(shardIds: readonly string[], totals: PagedList<ShardTotals>): readonly string[] {
  return shardIds.filter((_, i) => totals.at(i).chunks > 0).sort()
}

function inOrder(chunks: readonly ChunkEntry[]): readonly ChunkEntry[] {
  // The catalog sends them in order.
  const areInOrder = chunks.every(
    ({ major, minor }, i) => i === 0 || !isNewer(chunks[i - 1]!.major, chunks[i - 1]!.minor, major, minor),
  )
  return areInOrder ? chunks : chunks.toSorted((a, b) => a.major - b.major || a.minor - b.minor)
}

class Draft {
  readonly #shardIdsBefore: readonly string[]
  readonly #globalMax: string
  readonly #blocks: PagedListDraft<Block>
  /** Rows that no other table shares. */
  readonly #own = new Set<readonly number[]>()
  /** The previous table's list until a block is added or removed. */
  #firsts: BoundList
  readonly #totals: PagedListDraft<ShardTotals>
  /** Shards whose newest chunk was removed: their newest version must be recomputed. */
  readonly #staleTotals = new Set<number>()
  readonly #numbersBefore: ReadonlyMap<string, number>
  /** Includes shards with their first chunk; null: there are none. */
  #numbers: Map<string, number> | null = null
  #version: PlacementVersion
  #chunkCount: number
  /** Null: a shard has got its first chunk or lost its last one. */
  #owners: readonly string[] | null

  constructor(state: TableState) {
    this.#shardIdsBefore = state.shardIds
    this.#globalMax = state.globalMax
    this.#blocks = state.blocks.draft()
    this.#firsts = state.firsts
    this.#totals = state.totals.draft()
    this.#numbersBefore = state.numbers
    this.#version = state.version
    this.#chunkCount = state.chunkCount
    this.#owners = state.owners
  }

  apply(change: ChunkEntry): void {
    const { min, max, major, minor } = change
    const blocks = this.#blocks
    const firsts = this.#firsts
    const shard = this.#numberOf(change.shard)
    const firstIndex = firsts.position(min)
    let lastIndex = firstIndex
    while (lastIndex + 1 < firsts.length && firsts.at(lastIndex + 1)! < max) lastIndex++
    const first = blocks.at(firstIndex)
    const last = blocks.at(lastIndex)
    const from = lowerBound(first.mins, min)
    const to = lowerBound(last.mins, max)
    const end = last.mins[to] ?? firsts.at(lastIndex + 1) ?? this.#globalMax
    for (let b = firstIndex; b <= lastIndex; b++) {
      const block = blocks.at(b)
      const stop = b === lastIndex ? to : block.mins.length
      for (let i = b === firstIndex ? from : 0; i < stop; i++)
        this.#remove(ownerIn(block, i), majorIn(block, i), minorIn(block, i))
    }
    this.#add(shard, major, minor)
    // If the range ends inside a chunk, the rest of that chunk keeps its old version.
    const cuts = end !== max
    if (cuts) this.#add(ownerIn(last, to - 1), majorIn(last, to - 1), minorIn(last, to - 1))
    const isOne = lastIndex === firstIndex
    const isSame = isOne && !cuts && to - from === 1 && first.mins[from] === min
    if (isSame) this.#setRow(firstIndex, from, shard, major, minor)
    else {
      const parts = splitBlock(replaced({ first, from, last, to }, cuts ? [min, max] : [min], [shard, major, minor]))
      if (parts.length === 1 && isOne) blocks.set(firstIndex, parts[0]!)
      else {
        blocks.splice(firstIndex, lastIndex - firstIndex + 1, ...parts)
        this.#firsts = firsts.toSpliced(firstIndex, lastIndex - firstIndex + 1, ...parts.map((part) => part.mins[0]!))
      }
    }
    const [epoch, seconds, increment, newestMajor, newestMinor] = this.#version
    if (isNewer(major, minor, newestMajor, newestMinor)) this.#version = [epoch, seconds, increment, major, minor]
  }

  finish(): TableState {
    const blocks = this.#blocks.finish()
    for (const shard of this.#staleTotals) this.#totals.set(shard, this.#count(shard, blocks))
    const totals = this.#totals.finish()
    const shardIds = this.#numbers === null ? this.#shardIdsBefore : [...this.#numbers.keys()]
    return {
      version: this.#version,
      globalMax: this.#globalMax,
      chunkCount: this.#chunkCount,
      owners: this.#owners ?? ownersOf(shardIds, totals),
      shardIds,
      numbers: this.#numbers ?? this.#numbersBefore,
      totals,
      blocks,
      firsts: this.#firsts,
    }
  }

  #numberOf(shard: string): number {
    const known = (this.#numbers ?? this.#numbersBefore).get(shard)
    if (known !== undefined) return known
    this.#numbers ??= new Map(this.#numbersBefore)
    const number = this.#numbers.size
    this.#numbers.set(shard, number)
    this.#totals.push(noChunks)
    return number
  }

  /** The chunk keeps its bounds: the effect of moving one chunk. */
  #setRow(blockIndex: number, i: number, shard: number, major: number, minor: number): void {
    const { mins, rows } = this.#blocks.at(blockIndex)
    let own = rows as number[]
    if (!this.#own.has(rows)) {
      own = rows.slice()
      this.#own.add(own)
      this.#blocks.set(blockIndex, { mins, rows: own })
    }
    own[i * rowLength] = shard
    own[i * rowLength + 1] = major
    own[i * rowLength + 2] = minor
  }

  #add(shard: number, major: number, minor: number): void {
    const before = this.#totals.at(shard)
    const total = withChunk(before, major, minor)
    if (total.major === major && total.minor === minor) this.#staleTotals.delete(shard)
    this.#totals.set(shard, total)
    if (before.chunks === 0) this.#owners = null
    this.#chunkCount++
  }

  #remove(shard: number, major: number, minor: number): void {
    const total = this.#totals.at(shard)
    if (major === total.major && minor === total.minor) this.#staleTotals.add(shard)
    this.#totals.set(shard, { chunks: total.chunks - 1, major: total.major, minor: total.minor })
    if (total.chunks === 1) this.#owners = null
    this.#chunkCount--
  }

  #count(shard: number, blocks: PagedList<Block>): ShardTotals {
    let total = noChunks
    if (this.#totals.at(shard).chunks === 0) return total
    for (const block of blocks) {
      for (let i = 0; i < block.mins.length; i++)
        if (ownerIn(block, i) === shard) total = withChunk(total, majorIn(block, i), minorIn(block, i))
    }
    return total
  }
}

/**
 * One or two blocks in which a chunk replaces the range between two of their chunks. A second lower
 * bound is that of the rest of the last chunk.
 */
function replaced(
  {
    first,
    from,
    last,
    to,
  }: { readonly first: Block; readonly from: number; readonly last: Block; readonly to: number },
  mins: readonly string[],
  row: readonly number[],
): Block {
  const rest = mins.length === 1 ? [] : last.rows.slice((to - 1) * rowLength, to * rowLength)
  return {
    mins: [...first.mins.slice(0, from), ...mins, ...last.mins.slice(to)],
    rows: [...first.rows.slice(0, from * rowLength), ...row, ...rest, ...last.rows.slice(to * rowLength)],
  }
}

function withChunk(total: ShardTotals, major: number, minor: number): ShardTotals {
  return isNewer(major, minor, total.major, total.minor)
    ? { chunks: total.chunks + 1, major, minor }
    : { chunks: total.chunks + 1, major: total.major, minor: total.minor }
}

export function isNewer(major: number, minor: number, thanMajor: number, thanMinor: number): boolean {
  return major > thanMajor || (major === thanMajor && minor > thanMinor)
}
