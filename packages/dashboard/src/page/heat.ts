/** How the operations on a collection, or its bytes, are spread over its chunks. */
import type { OperationsEvent } from '@shardlab/actor'
import type { LiveChunk } from '../stream/deltas.js'
import { placeOf } from '../stream/live-state.js'
import { sizeOfChunk, type ChunkSizes } from './chunk-sizes.js'
import { memo } from './memo.js'

const leastShare = 1e-12

export interface Heat {
  readonly of: 'operations' | 'bytes'
  /** Of each chunk its share of the operations or bytes; together 1, or 0 if there are none. */
  readonly shares: Float64Array
  /** The largest of them. */
  readonly most: number
}

/** By the sums of the routers. A range of chunks counts for each of them in equal parts. */
export function heatOf(ns: string, chunks: readonly LiveChunk[], events: readonly OperationsEvent[]): Heat {
  // Differences between neighbours: a range costs two writes, however many chunks it covers.
  const steps = new Float64Array(chunks.length + 1)
  let sum = 0
  for (const event of events)
    for (const [of, first, last, operations] of event.chunks) {
      if (of !== ns) continue
      const [from, to] = [chunkAt(chunks, first), chunkAt(chunks, last)]
      if (from < 0) continue
      const share = operations / (to - from + 1)
      steps[from]! += share
      steps[to + 1]! -= share
      sum += operations
    }
  const shares = new Float64Array(chunks.length)
  let [most, present] = [0, 0]
  for (let place = 0; place < shares.length; place++) {
    present += steps[place]!
    // Sums and differences of fractions are seldom exactly 0.
    const share = sum === 0 ? 0 : present / sum
    shares[place] = share < leastShare ? 0 : share
    most = Math.max(most, shares[place]!)
  }
  return { of: 'operations', shares, most }
}

export function bytesHeatOf(chunks: readonly LiveChunk[], sizes: ChunkSizes): Heat {
  const bytes = Float64Array.from(chunks, (_, place) => sizeOfChunk(sizes, chunks, place).bytes)
  const sum = bytes.reduce((total, each) => total + each, 0)
  const shares = sum === 0 ? bytes : bytes.map((each) => each / sum)
  return { of: 'bytes', shares, most: shares.reduce((most, each) => Math.max(most, each), 0) }
}

/** The chunk in which a key is; -1: before all. */
function chunkAt(chunks: readonly LiveChunk[], key: string): number {
  const place = placeOf(chunks, key)
  return chunks[place]?.key === key ? place : place - 1
}

const known = memo<Heat>()

/** Operations that ended earlier do not count. */
const heatMs = 60_000

/**
 * {@link heatOf} the last minute, computed again only after a change.
 * @param id equal ids mean equal chunks
 */
export function knownHeatOf(
  ns: string,
  { id, chunks }: { readonly id: string; readonly chunks: readonly LiveChunk[] },
  operations: readonly OperationsEvent[],
  nowMs: number,
): Heat {
  const from = operations.findIndex(({ atMs }) => atMs >= nowMs - heatMs)
  const first = from < 0 ? operations.length : from
  return known([ns, id, operations[first], operations.at(-1)], () => heatOf(ns, chunks, operations.slice(first)))
}
