/** Earlier chunks of collections: what each change has replaced, newest last. */
import type { Delta, LiveChunk } from '../stream/deltas.js'
import { placeOf, type LiveState } from '../stream/live-state.js'

interface Step {
  readonly from: string
  readonly to: string | null
  readonly before: readonly LiveChunk[]
}

/** Changes that arrived together. */
interface Moment {
  readonly atMs: number
  readonly steps: Step[]
}

/** Of all collections together; the oldest moments are dropped. Some 30 MB. */
const chunksMax = 200_000

export class ChunkHistory {
  readonly #moments = new Map<string, Moment[]>()
  #chunks = 0

  /**
   * To be called before the delta is applied.
   * @param atMs the same for deltas that belong together
   */
  note(delta: Delta, state: LiveState, atMs: number): void {
    if (delta.type === 'snapshot') {
      this.#moments.clear()
      this.#chunks = 0
    } else if (delta.type === 'collection-removed') this.#forget(delta.ns)
    else if (delta.type === 'chunks' && state.isReady) this.#add(delta, state.chunksOf(delta.ns), atMs)
  }

  /** When the chunks have changed, oldest first. */
  timesOf(ns: string): readonly number[] {
    return (this.#moments.get(ns) ?? []).map(({ atMs }) => atMs)
  }

  /** @param count of the changes that had happened; with all of them, the present chunks */
  after(count: number, ns: string, present: readonly LiveChunk[]): readonly LiveChunk[] {
    let left = this.timesOf(ns).length - count
    let chunks = present
    for (const earlier of left <= 0 ? [] : this.backwards(ns, present)) {
      chunks = earlier
      if (--left === 0) break
    }
    return chunks
  }

  /** The chunks before each change, the last one first. Each step changes the list of the last. */
  *backwards(ns: string, present: readonly LiveChunk[]): Generator<readonly LiveChunk[], void> {
    let chunks = [...present]
    for (const { steps } of (this.#moments.get(ns) ?? []).toReversed()) {
      for (const { from, to, before } of steps.toReversed()) {
        const begin = placeOf(chunks, from)
        const end = to === null ? chunks.length : placeOf(chunks, to)
        // Most changes replace as many chunks as there were, which needs no copy.
        if (before.length === end - begin) for (const [i, chunk] of before.entries()) chunks[begin + i] = chunk
        else chunks = chunks.slice(0, begin).concat(before, chunks.slice(end))
      }
      yield chunks
    }
  }

  /** It does not change with this one. */
  copy(): ChunkHistory {
    const copy = new ChunkHistory()
    for (const [ns, moments] of this.#moments) {
      const own = moments.map(({ atMs, steps }) => ({ atMs, steps: [...steps] }))
      copy.#moments.set(ns, own)
    }
    copy.#chunks = this.#chunks
    return copy
  }

  #add({ ns, from, to, chunks }: Extract<Delta, { type: 'chunks' }>, known: readonly LiveChunk[], atMs: number): void {
    const before = known.slice(placeOf(known, from), to === null ? known.length : placeOf(known, to))
    // The first chunks of a collection are its beginning, and nothing that changes.
    if (known.length === 0 && chunks.length > 0) return
    const moments = this.#moments.get(ns) ?? []
    this.#moments.set(ns, moments)
    if (moments.at(-1)?.atMs !== atMs) moments.push({ atMs, steps: [] })
    moments.at(-1)!.steps.push({ from, to, before })
    this.#chunks += 1 + before.length
    while (this.#chunks > chunksMax) this.#dropOldest()
  }

  #dropOldest(): void {
    const all = [...this.#moments.values()].filter((moments) => moments.length > 0)
    const oldest = all.reduce((first, moments) => (moments[0]!.atMs < first[0]!.atMs ? moments : first))
    this.#chunks -= sizeOf(oldest.shift()!)
  }

  #forget(ns: string): void {
    for (const moment of this.#moments.get(ns) ?? []) this.#chunks -= sizeOf(moment)
    this.#moments.delete(ns)
  }
}

const sizeOf = ({ steps }: Moment): number => steps.reduce((sum, { before }) => sum + 1 + before.length, 0)
