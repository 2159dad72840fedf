/** The part of a collection's chunks that the map shows, as places in the list of chunks. */

export interface ChunkWindow {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** The map has this many chunks at least. */
const leastChunks = 1

export const allOf = (count: number): ChunkWindow => ({ from: 0, to: count })

/** Within the list, and not empty unless the list is. */
export function clamp({ from, to }: ChunkWindow, count: number): ChunkWindow {
  const size = Math.min(count, Math.max(Math.min(leastChunks, count), Math.round(to - from)))
  const start = Math.min(Math.max(0, Math.round(from)), count - size)
  return { from: start, to: start + size }
}

/** @param factor less than 1: nearer. @param at the place that stays where it is */
export function zoom({ from, to }: ChunkWindow, factor: number, at: number, count: number): ChunkWindow {
  const size = Math.min(count, Math.max(Math.min(leastChunks, count), (to - from) * factor))
  const share = to === from ? 0.5 : (at - from) / (to - from)
  const start = at - share * size
  return clamp({ from: start, to: start + size }, count)
}

/** As large as another one, with the place in its middle. */
export function around(place: number, { from, to }: ChunkWindow, count: number): ChunkWindow {
  const start = Math.round(place - (to - from) / 2)
  return clamp({ from: start, to: start + to - from }, count)
}

export function pan({ from, to }: ChunkWindow, share: number, count: number): ChunkWindow {
  const step = Math.max(1, Math.round(Math.abs((to - from) * share))) * Math.sign(share)
  return clamp({ from: from + step, to: to + step }, count)
}
