/**
 * Chunks in key order and by shard, so that a change of some of many costs little: in blocks, which a new version shares with the one before
 * it as long as nothing in them has changed.
 */
import { byShardOf, type ChunkPlace } from './policy/distribution.js'

/** Immutable. */
export interface ChunkPlaces<C extends ChunkPlace> {
  readonly count: number
  /** All chunks in key order; no block is empty. */
  readonly blocks: readonly (readonly C[])[]
  /** In key order. */
  readonly byShard: ReadonlyMap<string, readonly C[]>
}

const blockSize = 128

/** @param chunks in key order */
export function placesOf<C extends ChunkPlace>(chunks: readonly C[]): ChunkPlaces<C> {
  const blocks: C[][] = []
  for (let at = 0; at < chunks.length; at += blockSize) blocks.push(chunks.slice(at, at + blockSize))
  return { count: chunks.length, blocks, byShard: byShardOf(chunks) }
}

/** The last chunk that begins at or before a key; the first one when none does, undefined without chunks. */
export function chunkBefore<C extends ChunkPlace>({ blocks }: ChunkPlaces<C>, key: string): C | undefined {
  const block = blocks[lastAt(blocks, key, ([first]) => first!.min)]
  return block?.[lastAt(block, key, ({ min }) => min)]
}

export class ChunkDraft<C extends ChunkPlace> {
  #count: number
  readonly #blocks: (readonly C[])[]
  readonly #byShard: Map<string, readonly C[]>
  /** Lists that nobody else has seen. */
  readonly #own = new Set<readonly C[]>()

  constructor({ count, blocks, byShard }: ChunkPlaces<C>) {
    this.#count = count
    this.#blocks = [...blocks]
    this.#byShard = new Map(byShard)
  }

  /** The chunk takes the place of all that it overlaps. */
  place(chunk: C): void {
    const blocks = this.#blocks
    const first = lastAt(blocks, chunk.min, ([each]) => each!.min)
    let last = first
    while (last + 1 < blocks.length && blocks[last + 1]![0]!.min < chunk.max) last++
    const around = last === first ? (blocks[first] ?? []) : blocks.slice(first, last + 1).flat()
    let from = around.length === 0 ? 0 : lastAt(around, chunk.min, ({ min }) => min)
    if (from < around.length && around[from]!.max <= chunk.min) from++
    let to = from
    while (to < around.length && around[to]!.min < chunk.max) to++
    for (const gone of around.slice(from, to)) this.#takeFromShard(gone)
    this.#count += 1 - (to - from)
    const block = around.toSpliced(from, to - from, chunk)
    const parts = block.length <= 2 * blockSize ? [block] : [block.slice(0, blockSize), block.slice(blockSize)]
    if (parts.length === 1 && last === first) blocks[first] = block
    else blocks.splice(first, last - first + 1, ...parts)
    this.#giveToShard(chunk)
  }

  finish(): ChunkPlaces<C> {
    return { count: this.#count, blocks: this.#blocks, byShard: this.#byShard }
  }

  #takeFromShard(chunk: C): void {
    const list = this.#listOf(chunk.shard)
    if (list.length === 1) this.#byShard.delete(chunk.shard)
    else
      list.splice(
        lastAt(list, chunk.min, ({ min }) => min),
        1,
      )
  }

  #giveToShard(chunk: C): void {
    const list = this.#listOf(chunk.shard)
    const before = list.length === 0 ? 0 : lastAt(list, chunk.min, ({ min }) => min)
    list.splice(before < list.length && list[before]!.min < chunk.min ? before + 1 : before, 0, chunk)
  }

  #listOf(shard: string): C[] {
    const list = this.#byShard.get(shard) ?? []
    if (this.#own.has(list)) return list as C[]
    const own = [...list]
    this.#own.add(own)
    this.#byShard.set(shard, own)
    return own
  }
}

/** Index of the last element whose key is at or before this one; 0 when there is none. */
function lastAt<T>(sorted: readonly T[], key: string, keyOf: (element: T) => string): number {
  let low = 0
  let high = sorted.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (keyOf(sorted[middle]!) <= key) low = middle
    else high = middle
  }
  return low
}
