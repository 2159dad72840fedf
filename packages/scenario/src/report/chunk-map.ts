/** Who owned what, over time: key space to the right, time downwards, one colour a shard. */
import { escape } from '@shardlab/load'
import type { ChunkSample, Sample } from '../types.js'
import { timeText } from './format.js'

const width = 860
const margin = { left: 92, right: 34, top: 30, bottom: 24 }
const rowsMax = 60
/** Key ranges that are told apart. */
const columnsMax = 300

/**
 * The key space is shown by its ranges, each as wide as every other: what was split most is widest.
 * @param toneOf the colour class of a shard
 */
export function chunkMap(ns: string, samples: readonly Sample[], toneOf: (shard: string) => string): string {
  const every = Math.max(1, Math.ceil(samples.length / rowsMax))
  const rows = samples.filter((_, i) => i % every === 0)
  const bounds = boundsOf(rows.map(({ chunks }) => chunks[ns] ?? []))
  if (bounds.length === 0) return ''
  const rowHeight = 6
  const height = margin.top + rows.length * rowHeight + margin.bottom
  const column = (width - margin.left - margin.right) / bounds.length
  const drawn = rows.map(({ chunks }, row) => {
    const owners = ownersOf(bounds, chunks[ns] ?? [])
    const rects: string[] = []
    for (let from = 0; from < owners.length;) {
      let to = from + 1
      while (to < owners.length && owners[to] === owners[from]) to++
      const owner = owners[from]!
      if (owner !== '')
        rects.push(
          `<rect class="${toneOf(owner)}" x="${(margin.left + from * column).toFixed(1)}" y="${margin.top + row * rowHeight}" width="${((to - from) * column).toFixed(1)}" height="${rowHeight}"/>`,
        )
      from = to
    }
    return rects.join('')
  })
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.min(rows.length - 1, Math.round(share * (rows.length - 1))))
  const times = [...new Set(ticks)].map(
    (row) =>
      `<text class="tick" text-anchor="end" x="${margin.left - 8}" y="${margin.top + row * rowHeight + 7}">${timeText(rows[row]!.atMs)}</text>`,
  )
  const title = `Owners of ${ns} over time`
  return `<figure><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}" shape-rendering="crispEdges"><text class="title" x="${margin.left}" y="18">${escape(title)}</text>${times.join('')}${drawn.join('')}<text class="label" text-anchor="middle" x="${(margin.left + width - margin.right) / 2}" y="${height - 6}">shard key, each range that was ever a chunk as wide as every other</text></svg></figure>`
}

/** Every lower bound that there has been, in key order; of too many, evenly chosen ones. */
function boundsOf(all: readonly (readonly ChunkSample[])[]): string[] {
  const bounds = [...new Set(all.flatMap((chunks) => chunks.map(({ min }) => min)))].sort((a, b) => (a < b ? -1 : 1))
  const every = Math.max(1, Math.ceil(bounds.length / columnsMax))
  return bounds.filter((_, i) => i % every === 0)
}

/** The owner of each range; empty where there was no chunk. */
function ownersOf(bounds: readonly string[], chunks: readonly ChunkSample[]): string[] {
  let at = -1
  return bounds.map((bound) => {
    while (at + 1 < chunks.length && chunks[at + 1]!.min <= bound) at++
    return chunks[at]?.shard ?? ''
  })
}
