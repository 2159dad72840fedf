/** What a routing table is made of, and how changes give a new one that shares all blocks they did not touch. */
import type { PlacementVersion } from '../model/placement-version.js'
import { cutBlock, lowerBound, majorIn, minorIn, ownerIn, rowLength, type Block } from './block.js'
import { BoundList } from './bound-list.js'
import { PagedList } from './paged-list.js'

/** A chunk in key space, as the table knows it. */
export interface ChunkEntry {
  /** KeyString of the lower bound (included). */
  readonly min: string
  /** KeyString of the upper bound (excluded). */
  readonly max: string
  readonly shard: string
  readonly major: number
  readonly minor: number
}

export interface ShardTotals {
  readonly chunks: number
  /** Newest version of the shard's chunks. */
  readonly major: number
  readonly minor: number
}

export interface TableState {
  readonly version: PlacementVersion
  readonly globalMax: string
  readonly chunkCount: number
  /** How many shards own a chunk. */
  readonly ownerCount: number
  readonly shardIds: readonly string[]
  readonly numbers: ReadonlyMap<string, number>
  /** By the shard's number. */
  readonly totals: PagedList<ShardTotals>
  readonly blocks: PagedList<Block>
  /** First lower bound of each block. */
  readonly firsts: BoundList
}

const noChunks: ShardTotals = { chunks: 0, major: 0, minor: 0 }

/** @param chunks in key order, without gap or overlap */
export function stateOf(
  generation: readonly [epoch: string, seconds: number, increment: number],
  globalMax: string,
  chunks: readonly ChunkEntry[],
): TableState {
  const numbers = new Map<string, number>()
  const totals: ShardTotals[] = []
  let version: PlacementVersion = [...generation, 0, 0]
  const rows = new Array<number>(chunks.length * rowLength)
  let at = 0
  for (const chunk of chunks) {
    let number = numbers.get(chunk.shard)
    if (number === undefined) {
      number = numbers.size
      numbers.set(chunk.shard, number)
      totals.push(noChunks)
    }
    rows[at++] = number
    rows[at++] = chunk.major
    rows[at++] = chunk.minor
    totals[number] = withChunk(totals[number]!, chunk.major, chunk.minor)
    if (isNewer(chunk.major, chunk.minor, version[3], version[4])) version = [...generation, chunk.major, chunk.minor]
  }
  const blocks = cutBlock({ mins: chunks.map((chunk) => chunk.min), rows })
  return {
    version,
    globalMax,
    chunkCount: chunks.length,
    ownerCount: totals.length,
    shardIds: [...numbers.keys()],
    numbers,
    totals: PagedList.of(totals),
    blocks: PagedList.of(blocks),
    firsts: BoundList.of(blocks.map((block) => block.mins[0]!)),
  }
}

/** @throws Error for a range that is empty or leaves the key space */
export function changedState(state: TableState, changes: readonly ChunkEntry[]): TableState {
  const draft = new Draft(state)
  const ordered = changes.length === 1 ? changes : [...changes].sort((a, b) => a.major - b.major || a.minor - b.minor)
  for (const change of ordered) draft.place(change)
  return draft.finish()
}

class Draft {
  readonly #before: TableState
  readonly #globalMax: string
  #blocks: PagedList<Block>
  /** The table's own until a block comes or goes. */
  #firsts: BoundList
  #totals: PagedList<ShardTotals>
  /** Shards whose newest chunk is gone, so that another one is their newest. */
  readonly #unsure = new Set<number>()
  #numbers: ReadonlyMap<string, number>
  #version: PlacementVersion
  #chunkCount: number
  #ownerCount: number

  constructor(state: TableState) {
    this.#before = state
    this.#globalMax = state.globalMax
    this.#blocks = state.blocks
    this.#firsts = state.firsts
    this.#totals = state.totals
    this.#numbers = state.numbers
    this.#version = state.version
    this.#chunkCount = state.chunkCount
    this.#ownerCount = state.ownerCount
  }

  place(change: ChunkEntry): void {
    const { min, max, major, minor } = change
    const blocks = this.#blocks
    const firsts = this.#firsts
    if (min >= max || min < firsts.at(0)! || max > this.#globalMax)
      throw new Error('the range of a changed chunk is empty or leaves the key space')
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
      for (let i = b === firstIndex ? from : 0; i < stop; i++) this.#remove(ownerIn(block, i), majorIn(block, i), minorIn(block, i))
    }
    this.#add(shard, major, minor)
    // What lies behind the range in a chunk that it cuts goes on as a chunk of the old version.
    const cuts = end !== max
    if (cuts) this.#add(ownerIn(last, to - 1), majorIn(last, to - 1), minorIn(last, to - 1))
    const isOne = lastIndex === firstIndex
    const row = [shard, major, minor]
    const block =
      isOne && !cuts && to - from === 1 && first.mins[from] === min
        ? { mins: first.mins, rows: withRow(first.rows, from, row) }
        : replaced({ first, from, last, to }, cuts ? [min, max] : [min], row)
    const parts = cutBlock(block)
    if (parts.length === 1 && isOne) this.#blocks = blocks.with(firstIndex, block)
    else {
      this.#blocks = blocks.toSpliced(firstIndex, lastIndex - firstIndex + 1, ...parts)
      this.#firsts = firsts.toSpliced(firstIndex, lastIndex - firstIndex + 1, ...parts.map((part) => part.mins[0]!))
    }
    const [epoch, seconds, increment, newestMajor, newestMinor] = this.#version
    if (isNewer(major, minor, newestMajor, newestMinor)) this.#version = [epoch, seconds, increment, major, minor]
  }

  finish(): TableState {
    for (const shard of this.#unsure) this.#totals = this.#totals.with(shard, this.#count(shard))
    return {
      version: this.#version,
      globalMax: this.#globalMax,
      chunkCount: this.#chunkCount,
      ownerCount: this.#ownerCount,
      shardIds: this.#numbers === this.#before.numbers ? this.#before.shardIds : [...this.#numbers.keys()],
      numbers: this.#numbers,
      totals: this.#totals,
      blocks: this.#blocks,
      firsts: this.#firsts,
    }
  }

  #numberOf(shard: string): number {
    const known = this.#numbers.get(shard)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers = new Map(this.#numbers).set(shard, number)
    this.#totals = this.#totals.toSpliced(number, 0, noChunks)
    return number
  }

  #add(shard: number, major: number, minor: number): void {
    const before = this.#totals.at(shard)
    const total = withChunk(before, major, minor)
    if (total.major === major && total.minor === minor) this.#unsure.delete(shard)
    this.#totals = this.#totals.with(shard, total)
    if (before.chunks === 0) this.#ownerCount++
    this.#chunkCount++
  }

  #remove(shard: number, major: number, minor: number): void {
    const total = this.#totals.at(shard)
    if (major === total.major && minor === total.minor) this.#unsure.add(shard)
    this.#totals = this.#totals.with(shard, { chunks: total.chunks - 1, major: total.major, minor: total.minor })
    if (total.chunks === 1) this.#ownerCount--
    this.#chunkCount--
  }

  #count(shard: number): ShardTotals {
    let total = noChunks
    if (this.#totals.at(shard).chunks === 0) return total
    for (const block of this.#blocks) {
      for (let i = 0; i < block.mins.length; i++)
        if (ownerIn(block, i) === shard) total = withChunk(total, majorIn(block, i), minorIn(block, i))
    }
    return total
  }
}

/** The rows with another one in the place of the i-th: all that a move of a chunk changes. */
function withRow(rows: readonly number[], i: number, row: readonly number[]): readonly number[] {
  const copy = rows.slice()
  for (let k = 0; k < rowLength; k++) copy[i * rowLength + k] = row[k]!
  return copy
}

/**
 * Two blocks, or twice the same one, with a chunk in the place of what lies between two of theirs; a second lower bound is that of the rest of
 * the last one.
 */
function replaced(
  { first, from, last, to }: { readonly first: Block; readonly from: number; readonly last: Block; readonly to: number },
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

function isNewer(major: number, minor: number, thanMajor: number, thanMinor: number): boolean {
  return major > thanMajor || (major === thanMajor && minor > thanMinor)
}
