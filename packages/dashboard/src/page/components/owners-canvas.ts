/**
 * Draws owners over time: the key space is horizontal, time runs downwards, and each shard has a
 * colour. Above it are the zones, and a strip that shows one instant.
 */
import type { OwnedRanges, Owners } from '@shardlab/report'
import type { Drawing } from './drawing.js'
import { inkColour, manyColours, ruleColour, softColour } from './palette.js'
import { cleared } from './sharp-canvas.js'
import { fitting } from './text-width.js'

export interface OwnersData {
  readonly owners: Owners
  /** The times of the rows. */
  readonly times: readonly string[]
  readonly shards: number
  /** Of the ranges, as shares of all. */
  readonly widths: readonly number[]
  /** The place of the shown instant. */
  readonly instant: number
  /** A shard; the others are pale. null: all are equal. */
  readonly stressed: number | null
}

export const marginLeft = 78
const marginRight = 6
const zoneHeight = 20
/** Shows one instant. */
const stripHeight = 22
const stripGap = 8
const rowHeights = { least: 6, most: 16, ofAll: 240 }
/** Of a range, so that no shard is invisible. */
export const rangeWidthLeast = 1.5
/** Room between the texts of two times. */
const timeSpacing = 22

/** Pixels that a map of so many ranges has at least, though its page is narrower. */
export const leastWidth = ({ bounds }: Owners): number =>
  marginLeft + marginRight + Math.ceil(bounds.length * rangeWidthLeast * 1.5)

/** Positions of the edges of ranges, from 0 to `width`. None is narrower than the least width. */
export function edgesOf(shares: readonly number[], width: number): number[] {
  const least = Math.min(rangeWidthLeast, width / Math.max(1, shares.length))
  const free = width - least * shares.length
  const edges = [0]
  for (const share of shares) edges.push(edges.at(-1)! + least + share * free)
  return edges
}

export function rowHeightOf(rows: number): number {
  return Math.min(rowHeights.most, Math.max(rowHeights.least, Math.floor(rowHeights.ofAll / rows)))
}

const topOf = ({ zones }: Owners): number => 2 + (zones.length > 0 ? zoneHeight : 0)
const rowsTopOf = (owners: Owners): number => topOf(owners) + stripHeight + stripGap

/** What is at a position of the canvas. null: nothing. */
export function pointedAt(
  { owners, widths }: OwnersData,
  canvas: { readonly width: number; readonly x: number; readonly y: number },
): { readonly row: number; readonly range: number; readonly shard: number } | null {
  const edges = edgesOf(widths, canvas.width - marginLeft - marginRight)
  const range = edges.findLastIndex((edge) => edge <= canvas.x - marginLeft)
  const row = Math.floor((canvas.y - rowsTopOf(owners)) / rowHeightOf(owners.rows.length))
  const shard = owners.rows[row]?.find(([from, to]) => from <= range && range < to)?.[2]
  return shard === undefined ? null : { row, range, shard }
}

export class OwnersCanvas implements Drawing<OwnersData> {
  readonly #canvas: HTMLCanvasElement
  readonly #sizes: ResizeObserver
  #data: OwnersData | null = null

  constructor(canvas: HTMLElement) {
    this.#canvas = canvas as HTMLCanvasElement
    this.#sizes = new ResizeObserver(() => this.#draw())
    this.#sizes.observe(canvas)
  }

  show(data: OwnersData): void {
    this.#data = data
    this.#canvas.style.minWidth = `${leastWidth(data.owners)}px`
    this.#draw()
  }

  end(): void {
    this.#sizes.disconnect()
  }

  #draw(): void {
    const width = this.#canvas.clientWidth
    if (this.#data === null || width === 0) return
    const { owners } = this.#data
    const rowHeight = rowHeightOf(owners.rows.length)
    const height = rowsTopOf(owners) + owners.rows.length * rowHeight + 4
    const context = cleared(this.#canvas, { width, height })
    draw(context, this.#data, width - marginLeft - marginRight)
  }
}

function draw(context: CanvasRenderingContext2D, data: OwnersData, inner: number): void {
  const { owners, times, instant } = data
  const edges = edgesOf(data.widths, inner)
  const colours = manyColours(data.shards)
  const rowHeight = rowHeightOf(owners.rows.length)
  const [stripTop, rowsTop] = [topOf(owners), rowsTopOf(owners)]
  const row = (ranges: readonly OwnedRanges[], top: number, height: number): void => {
    for (const [from, to, shard] of ranges) {
      context.globalAlpha = data.stressed === null || data.stressed === shard ? 1 : 0.12
      context.fillStyle = colours[shard]!
      // The half pixel hides seams between neighbours.
      context.fillRect(marginLeft + edges[from]!, top, edges[to]! - edges[from]! + 0.5, height)
    }
    context.globalAlpha = 1
  }
  const label = (text: string, y: number, colour: string): void => {
    context.fillStyle = colour
    context.textAlign = 'right'
    context.fillText(text, marginLeft - 8, y)
  }
  drawZones(context, owners, edges)
  if (owners.zones.length > 0) label('zones', 2 + (zoneHeight - 3) / 2, softColour())
  row(owners.rows[instant] ?? [], stripTop, stripHeight)
  label(times[instant] ?? '', stripTop + stripHeight / 2, inkColour())
  for (const [i, ranges] of owners.rows.entries()) row(ranges, rowsTop + i * rowHeight, rowHeight)
  const spaces = Math.max(1, Math.min(4, Math.floor((owners.rows.length * rowHeight) / timeSpacing) - 1))
  const ticks = Array.from({ length: spaces + 1 }, (_, i) => Math.round((i / spaces) * (owners.rows.length - 1)))
  for (const tick of new Set(ticks))
    label(times[tick]!, rowsTop + Math.max(6, tick * rowHeight + rowHeight / 2), softColour())
  context.strokeStyle = inkColour()
  context.lineWidth = 1.5
  context.strokeRect(marginLeft - 3, rowsTop + instant * rowHeight, inner + 6, rowHeight)
}

function drawZones(context: CanvasRenderingContext2D, { zones }: Owners, edges: readonly number[]): void {
  for (const { zone, from, to } of zones) {
    const [left, width] = [marginLeft + edges[from]!, edges[to]! - edges[from]!]
    context.fillStyle = ruleColour()
    context.fillRect(left, 2, Math.max(1, width - 1), zoneHeight - 3)
    context.fillStyle = inkColour()
    context.textAlign = 'center'
    context.fillText(fitting(zone, width - 4), left + width / 2, 2 + (zoneHeight - 3) / 2)
  }
}
