/** Small changes are cheap. */
import { ChunkList, ChunkListDraft } from './chunk-list.js'
import { byShardOf, type ChunkPlace } from '../policy/distribution.js'

export interface ChunkPlaces<C extends ChunkPlace> {
  readonly all: ChunkList<C>
  /** Shards without chunks are missing. */
  readonly byShard: ReadonlyMap<string, ChunkList<C>>
}

export function placesOf<C extends ChunkPlace>(chunks: readonly C[]): ChunkPlaces<C> {
  const byShard = new Map<string, ChunkList<C>>()
  for (const [shard, own] of byShardOf(chunks)) byShard.set(shard, ChunkList.of(own))
  return { all: ChunkList.of(chunks), byShard }
}

export class ChunkPlacesDraft<C extends ChunkPlace> {
  readonly #before: ChunkPlaces<C>
  readonly #all: ChunkListDraft<C>
  readonly #byShard = new Map<string, ChunkListDraft<C>>()

  constructor(before: ChunkPlaces<C>) {
    this.#before = before
    this.#all = before.all.draft()
  }

  /** Replaces all chunks that it overlaps. */
  place(chunk: C): void {
    for (const gone of this.#all.place(chunk)) this.#on(gone.shard).remove(gone)
    this.#on(chunk.shard).place(chunk)
  }

  finish(): ChunkPlaces<C> {
    const byShard = new Map(this.#before.byShard)
    for (const [shard, draft] of this.#byShard) {
      const own = draft.finish()
      if (own.length === 0) byShard.delete(shard)
      else byShard.set(shard, own)
    }
    return { all: this.#all.finish(), byShard }
  }

  #on(shard: string): ChunkListDraft<C> {
    let draft = this.#byShard.get(shard)
    if (draft === undefined)
      this.#byShard.set(shard, (draft = (this.#before.byShard.get(shard) ?? ChunkList.of<C>([])).draft()))
    return draft
  }
}
