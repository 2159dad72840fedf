/**
 * Owners over time: the key space is horizontal, time runs downwards, and each shard has a colour.
 * A strip above shows one instant.
 */
import { escape } from '@shardlab/load'
import type { ChunkSample, Sample } from '../types.js'
import { timeText } from './format.js'

const width = 860
const margin = { left: 92, right: 34, top: 58, bottom: 24 }
/** Shows the instant of the page's slider, at first the last one. */
const strip = { top: 28, height: 20 }
const rowHeights = { least: 6, most: 16, ofAll: 240 }
/** Key ranges shown. */
const columnsMax = 300
/** Hides seams between neighbours. */
const overlap = 0.5
/** Chunks per instant whose bounds are considered. */
const lookedAtMax = 3000

/**
 * All ranges have the same width, so the most frequently split parts are widest.
 * @param rows instants from the top
 * @param toneOf colour class of a shard
 */
export function chunkMap(ns: string, rows: readonly Sample[], toneOf: (shard: string) => string): string {
  const bounds = boundsOf(rows.map(({ chunks }) => chunks[ns] ?? []))
  if (bounds.length === 0) return ''
  const rowHeight = Math.min(rowHeights.most, Math.max(rowHeights.least, Math.floor(rowHeights.ofAll / rows.length)))
  const height = margin.top + rows.length * rowHeight + margin.bottom
  const column = (width - margin.left - margin.right) / bounds.length
  const rectsOf = ({ chunks }: Sample, y: number, high: number): string => {
    const owners = ownersOf(bounds, chunks[ns] ?? [])
    const rects: string[] = []
    for (let from = 0; from < owners.length;) {
      let to = from + 1
      while (to < owners.length && owners[to] === owners[from]) to++
      const owner = owners[from]!
      if (owner !== '')
        rects.push(
          `<rect class="${toneOf(owner)}" x="${(margin.left + from * column).toFixed(1)}" y="${y}" width="${((to - from) * column + overlap).toFixed(1)}" height="${high}"/>`,
        )
      from = to
    }
    return rects.join('')
  }
  const drawn = rows.map((row, i) => `<g class="row">${rectsOf(row, margin.top + i * rowHeight, rowHeight)}</g>`)
  const spaces = Math.max(1, Math.min(4, Math.floor((rows.length * rowHeight) / 20)))
  const ticks = Array.from({ length: spaces + 1 }, (_, i) => Math.round((i / spaces) * (rows.length - 1)))
  const times = [...new Set(ticks)].map(
    (row) =>
      `<text class="tick" text-anchor="end" x="${margin.left - 8}" y="${margin.top + row * rowHeight + rowHeight / 2 + 4}">${timeText(rows[row]!.atMs)}</text>`,
  )
  const title = `Owners of ${ns} over time`
  const last = rows.at(-1)!
  const at = `<text class="tick at" text-anchor="end" x="${margin.left - 8}" y="${strip.top + 14}">${timeText(last.atMs)}</text>`
  const mark = `<rect class="rowmark" x="${margin.left - 3}" y="${margin.top + (rows.length - 1) * rowHeight}" width="${width - margin.left - margin.right + 6}" height="${rowHeight}"/>`
  return `<figure><svg class="map" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}" shape-rendering="crispEdges" data-strip="${strip.top} ${strip.height} ${margin.top} ${rowHeight}"><text class="title" x="${margin.left}" y="18">${escape(title)}</text>${at}<g class="strip">${rectsOf(last, strip.top, strip.height)}</g>${times.join('')}${drawn.join('')}${mark}<text class="label" text-anchor="middle" x="${(margin.left + width - margin.right) / 2}" y="${height - 6}">shard key; all ranges that were ever a chunk have the same width</text></svg></figure>`
}

/** In key order; an even selection if there are too many. */
function boundsOf(all: readonly (readonly ChunkSample[])[]): readonly string[] {
  const some = all.flatMap((chunks) => thinned(chunks, lookedAtMax).map(({ min }) => min))
  const bounds = [...new Set(some)].sort((a, b) => (a < b ? -1 : 1))
  return thinned(bounds, columnsMax)
}

/** Includes the first. */
function thinned<T>(all: readonly T[], most: number): readonly T[] {
  const every = Math.ceil(all.length / most)
  return every <= 1 ? all : all.filter((_, i) => i % every === 0)
}

/** Empty where there was no chunk. Refining a key makes bounds longer, including the first. */
function ownersOf(bounds: readonly string[], chunks: readonly ChunkSample[]): string[] {
  let at = -1
  return bounds.map((bound) => {
    while (at + 1 < chunks.length && chunks[at + 1]!.min <= bound) at++
    return chunks[Math.max(0, at)]?.shard ?? ''
  })
}
