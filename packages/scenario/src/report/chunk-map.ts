/**
 * Owners over time: the key space is horizontal, time runs downwards, and each shard has a colour.
 * Above it are the zones, and a strip that shows one instant.
 */
import { escape } from '@shardlab/load'
import type { KeyMap, Sample } from '../types.js'
import { byName, timeText } from './format.js'
import { columnsOf, columnWidthLeast, edgesOf, ownersOf } from './map-columns.js'

const plainWidth = 860
const margin = { left: 92, right: 34, top: 58, bottom: 24 }
const zoneHeight = 18
/** Shows the instant of the page's slider, at first the last one. */
const stripHeight = 20
const rowHeights = { least: 6, most: 16, ofAll: 240 }
/** Hides seams between neighbours. */
const overlap = 0.5
/** Estimated for a character of a tick. */
const characterWidth = 7

export interface MapOptions {
  /** Instants from the top. */
  readonly rows: readonly Sample[]
  readonly map: KeyMap
  /** Colour class of a shard. */
  readonly toneOf: (shard: string) => string
}

export function chunkMap(ns: string, { rows, map, toneOf }: MapOptions): string {
  const chunksOf = ({ chunks }: Sample) => chunks[ns] ?? []
  const columns = columnsOf(rows.map(chunksOf), map.bytes)
  const { bounds, byBytes, byKeys } = columns
  if (bounds.length === 0) return ''
  const width = Math.max(plainWidth, margin.left + margin.right + Math.ceil(bounds.length * columnWidthLeast * 1.5))
  const inner = width - margin.left - margin.right
  const edges = edgesOf(byBytes, inner)
  const hasZones = map.zones.length > 0
  const stripTop = 28 + (hasZones ? zoneHeight : 0)
  const top = margin.top + (hasZones ? zoneHeight : 0)
  const rowHeight = Math.min(rowHeights.most, Math.max(rowHeights.least, Math.floor(rowHeights.ofAll / rows.length)))
  const height = top + rows.length * rowHeight + margin.bottom
  const place = (from: number, to: number): string =>
    `data-c="${from} ${to}" x="${(margin.left + edges[from]!).toFixed(1)}" width="${(edges[to]! - edges[from]! + overlap).toFixed(1)}"`
  // Rectangles of a row get their height from the style sheet: a page may have a hundred thousand.
  const rectsOf = (sample: Sample, more = ''): string => {
    const owners = ownersOf(bounds, chunksOf(sample))
    const rects: string[] = []
    for (let from = 0; from < owners.length;) {
      let to = from + 1
      while (to < owners.length && owners[to] === owners[from]) to++
      if (owners[from] !== '') rects.push(`<rect class="${toneOf(owners[from]!)}" ${place(from, to)}${more}/>`)
      from = to
    }
    return rects.join('')
  }
  const zones = map.zones.map(({ min, max, zone }) => {
    const from = Math.max(
      0,
      bounds.findLastIndex((bound) => bound <= min),
    )
    const after = bounds.findIndex((bound) => bound >= max)
    const to = after === -1 ? bounds.length : Math.max(after, from + 1)
    const [left, right] = [margin.left + edges[from]!, margin.left + edges[to]!]
    const fits = zone.length * characterWidth < right - left
    const text = `<text class="tick" data-c="${from} ${to}" text-anchor="middle" x="${((left + right) / 2).toFixed(1)}" y="40"${fits ? '' : ' visibility="hidden"'}>${escape(zone)}</text>`
    return `<g><rect class="zone" ${place(from, to)} y="27" height="${zoneHeight - 3}"/>${text}<title>zone ${escape(zone)}</title></g>`
  })
  const drawn = rows.map(
    (row, i) => `<g class="row" transform="translate(0 ${top + i * rowHeight})">${rectsOf(row)}</g>`,
  )
  const spaces = Math.max(1, Math.min(4, Math.floor((rows.length * rowHeight) / 20)))
  const ticks = Array.from({ length: spaces + 1 }, (_, i) => Math.round((i / spaces) * (rows.length - 1)))
  const label = (className: string, y: number, text: string): string =>
    `<text class="${className}" text-anchor="end" x="${margin.left - 8}" y="${y}">${escape(text)}</text>`
  const times = [...new Set(ticks)].map((row) =>
    label('tick', top + row * rowHeight + rowHeight / 2 + 4, timeText(rows[row]!.atMs)),
  )
  const title = `Owners of ${ns} over time`
  const last = rows.at(-1)!
  const at = label('tick at', stripTop + 14, timeText(last.atMs))
  const mark = `<rect class="rowmark" x="${margin.left - 3}" y="${top + (rows.length - 1) * rowHeight}" width="${inner + 6}" height="${rowHeight}"/>`
  const axis = `<text class="label widths" text-anchor="middle" x="${margin.left + inner / 2}" y="${height - 6}">shard key; ranges are as wide as their bytes at the end</text>`
  const data = `data-strip="${stripTop} ${stripHeight} ${top} ${rowHeight}" data-left="${margin.left}" data-bytes="${edgesText(edges)}"${byKeys === null ? '' : ` data-keys="${edgesText(edgesOf(byKeys, inner))}"`}`
  const choice =
    byKeys === null
      ? ''
      : `<p class="widthby" hidden>Width of a range: ${['bytes', 'keys'].map((by) => `<button type="button" data-by="${by}" aria-pressed="${by === 'bytes'}">${by}</button>`).join(' ')}</p>`
  return `<figure class="owners">${choice}<div class="scroll"><svg class="map" viewBox="0 0 ${width} ${height}" style="min-width:${width > plainWidth ? width : 640}px;--row:${rowHeight}px" role="img" aria-label="${escape(title)}" shape-rendering="crispEdges" ${data}><text class="title" x="${margin.left}" y="18">${escape(title)}</text>${hasZones ? label('tick', 40, 'zones') : ''}${zones.join('')}${at}<g class="strip">${rectsOf(last, ` y="${stripTop}" height="${stripHeight}"`)}</g>${times.join('')}${drawn.join('')}${mark}${axis}</svg></div>${names(ns, rows, toneOf)}</figure>`
}

const edgesText = (edges: readonly number[]): string => edges.map((edge) => Number(edge.toFixed(1))).join(' ')

/** All shards that ever owned a chunk; pointing at one dims the others. */
function names(ns: string, rows: readonly Sample[], toneOf: (shard: string) => string): string {
  const shards = [...new Set(rows.flatMap(({ chunks }) => (chunks[ns] ?? []).map(({ shard }) => shard)))].sort(byName)
  const items = shards.map((shard) => {
    const tone = toneOf(shard)
    return `<span data-tone="${tone}"><i class="${tone}"></i>${escape(shard)}</span>`
  })
  return `<p class="legend shards">${items.join('')}</p>`
}
