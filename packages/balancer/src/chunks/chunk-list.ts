/**
 * Chunks in key order, in blocks. A changed list shares its unchanged blocks with its predecessor.
 */
import { BoundList } from '@shardlab/sharding'
import type { ChunkPlace } from '../policy/distribution.js'

const blockSize = 128

/** Blocks are never empty. */
type Blocks<C> = readonly (readonly C[])[]

/** Immutable. */
export class ChunkList<C extends ChunkPlace> implements Iterable<C> {
  readonly length: number
  readonly #blocks: Blocks<C>
  readonly #firsts: BoundList

  constructor(length: number, blocks: Blocks<C>, firsts: BoundList) {
    this.length = length
    this.#blocks = blocks
    this.#firsts = firsts
  }

  static of<C extends ChunkPlace>(chunks: readonly C[]): ChunkList<C> {
    const blocks: C[][] = []
    for (let at = 0; at < chunks.length; at += blockSize) blocks.push(chunks.slice(at, at + blockSize))
    return new ChunkList(chunks.length, blocks, BoundList.of(blocks.map(firstOf)))
  }

  *[Symbol.iterator](): Iterator<C, void, void> {
    for (const block of this.#blocks) for (let i = 0; i < block.length; i++) yield block[i]!
  }

  toArray(): C[] {
    return this.#blocks.flat()
  }

  /**
   * The last chunk that starts at or before the key, otherwise the first chunk; undefined without
   * chunks.
   */
  before(key: string): C | undefined {
    const block = this.#blocks[this.#firsts.position(key)]
    return block?.[placeAt(block, key)]
  }

  draft(): ChunkListDraft<C> {
    return new ChunkListDraft(this.length, this.#blocks, this.#firsts)
  }
}

export class ChunkListDraft<C extends ChunkPlace> {
  #length: number
  readonly #blocks: (readonly C[])[]
  #firsts: BoundList

  constructor(length: number, blocks: Blocks<C>, firsts: BoundList) {
    this.#length = length
    this.#blocks = blocks.slice()
    this.#firsts = firsts
  }

  /**
   * Replaces all chunks that it overlaps.
   * @returns those chunks
   */
  place(chunk: C): readonly C[] {
    const blocks = this.#blocks
    const firsts = this.#firsts
    const first = firsts.position(chunk.min)
    let last = first
    while (last + 1 < firsts.length && firsts.at(last + 1)! < chunk.max) last++
    const around = last === first ? (blocks[first] ?? []) : blocks.slice(first, last + 1).flat()
    let from = around.length === 0 ? 0 : placeAt(around, chunk.min)
    if (from < around.length && around[from]!.max <= chunk.min) from++
    let to = from
    while (to < around.length && around[to]!.min < chunk.max) to++
    const block = to === from + 1 ? around.with(from, chunk) : around.toSpliced(from, to - from, chunk)
    this.#replace(
      first,
      last - first + 1,
      block.length <= 2 * blockSize ? [block] : [block.slice(0, blockSize), block.slice(blockSize)],
    )
    this.#length += 1 - (to - from)
    return around.slice(from, to)
  }

  remove({ min }: C): void {
    const at = this.#firsts.position(min)
    const block = this.#blocks[at]!
    this.#replace(at, 1, block.length === 1 ? [] : [block.toSpliced(placeAt(block, min), 1)])
    this.#length--
  }

  finish(): ChunkList<C> {
    return new ChunkList(this.#length, this.#blocks, this.#firsts)
  }

  #replace(first: number, count: number, parts: Blocks<C>): void {
    const isSame = parts.length === 1 && count === 1 && firstOf(parts[0]!) === this.#firsts.at(first)
    if (isSame) this.#blocks[first] = parts[0]!
    else {
      this.#blocks.splice(first, count, ...parts)
      this.#firsts = this.#firsts.toSpliced(first, count, ...parts.map(firstOf))
    }
  }
}

function firstOf(block: readonly ChunkPlace[]): string {
  return block[0]!.min
}

/** Index of the last chunk that starts at or before the key; 0 if none does. */
function placeAt(block: readonly ChunkPlace[], key: string): number {
  let low = 0
  let high = block.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (block[middle]!.min <= key) low = middle
    else high = middle
  }
  return low
}
