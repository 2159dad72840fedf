/**
 * Draws the chunk map: places of chunks from left to right, a lane for each shard below each other.
 * All chunks are equally wide. Where several share a pixel, a lane is as dark as its share of them.
 */
import type { LiveChunk, LiveMigration, LiveZone } from '../../stream/deltas.js'
import { placeOf } from '../../stream/live-state.js'
import { badColour, colourOf, inkColour, ruleColour } from '../components/palette.js'
import { cleared } from '../components/sharp-canvas.js'
import { fitting } from '../components/text-width.js'
import type { Heat } from '../heat.js'
import type { ChunkWindow } from './chunk-window.js'

export interface ChunkMapData {
  readonly chunks: readonly LiveChunk[]
  readonly shards: readonly string[]
  readonly zones: readonly LiveZone[]
  readonly migrations: readonly LiveMigration[]
  readonly window: ChunkWindow
  /** null: nothing is known. */
  readonly heat: Heat | null
  /** A place in the list; null: none. */
  readonly selected: number | null
}

export const labelWidth = 74
const zoneHeight = 16
const heatHeight = 12
const laneGap = 3

export interface MapSize {
  readonly width: number
  readonly height: number
  readonly laneHeight: number
  readonly top: number
}

export function sizeOf(
  width: number,
  { shards, zones, heat }: Pick<ChunkMapData, 'shards' | 'zones' | 'heat'>,
): MapSize {
  const laneHeight = Math.max(14, Math.min(28, Math.floor(320 / Math.max(1, shards.length))))
  const top = 4 + (zones.length > 0 ? zoneHeight + 2 : 0) + (heat === null ? 0 : heatHeight + 4)
  return { width, laneHeight, top, height: top + shards.length * (laneHeight + laneGap) + 4 }
}

/** Pixels of the plot per chunk. */
export function scaleOf({ width }: MapSize, { from, to }: ChunkWindow): number {
  return (width - labelWidth) / Math.max(1, to - from)
}

export function drawChunkMap(canvas: HTMLCanvasElement, size: MapSize, data: ChunkMapData): void {
  const map = new ChunkMapDrawing(cleared(canvas, size), size, data)
  map.lanes()
  map.chunks()
  map.zones()
  map.heat()
  map.migrations()
  map.selection()
}

/** One row of pixels for each lane, before it is as high as the lane. */
const rows = document.createElement('canvas')

const channelsOf = (colour: string): readonly number[] =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))

class ChunkMapDrawing {
  readonly #context: CanvasRenderingContext2D
  readonly #size: MapSize
  readonly #data: ChunkMapData
  readonly #scale: number
  readonly #laneOf: ReadonlyMap<string, number>

  constructor(context: CanvasRenderingContext2D, size: MapSize, data: ChunkMapData) {
    this.#context = context
    this.#size = size
    this.#data = data
    this.#scale = scaleOf(size, data.window)
    this.#laneOf = new Map(data.shards.map((shard, i) => [shard, i]))
  }

  lanes(): void {
    const context = this.#context
    for (const [i, shard] of this.#data.shards.entries()) {
      context.fillStyle = ruleColour()
      context.globalAlpha = 0.45
      context.fillRect(labelWidth, this.#topOf(i), this.#size.width - labelWidth, this.#size.laneHeight)
      context.globalAlpha = 1
      context.fillStyle = inkColour()
      context.textAlign = 'left'
      context.fillText(shard, 0, this.#topOf(i) + this.#size.laneHeight / 2 + 1, labelWidth - 6)
    }
  }

  chunks(): void {
    if (this.#scale >= 1) this.#wideChunks()
    else this.#narrowChunks()
  }

  /** Each chunk has pixels of its own; from six pixels on they are apart. */
  #wideChunks(): void {
    const { chunks, window } = this.#data
    const context = this.#context
    const gap = this.#scale >= 6 ? 1 : 0
    for (let place = window.from; place < window.to; place++) {
      const { shard, jumbo } = chunks[place]!
      const lane = this.#laneOf.get(shard)
      if (lane === undefined) continue
      context.fillStyle = colourOf(lane)
      const x = this.#xOf(place)
      context.fillRect(x, this.#topOf(lane), Math.max(1, this.#scale - gap), this.#size.laneHeight)
      if (jumbo === true) this.#jumbo(x + this.#scale / 2, lane)
    }
  }

  /** One rectangle for each pixel and lane would be 100,000: an image has one row for each lane. */
  #narrowChunks(): void {
    const { shards } = this.#data
    const context = this.#context
    const width = Math.ceil(this.#size.width - labelWidth)
    const [image, jumbo] = this.#shares(width)
    rows.width = width
    rows.height = shards.length
    rows.getContext('2d')!.putImageData(image, 0, 0)
    context.imageSmoothingEnabled = false
    for (const lane of shards.keys())
      context.drawImage(rows, 0, lane, width, 1, labelWidth, this.#topOf(lane), width, this.#size.laneHeight)
    for (const [pixel, lane] of jumbo) this.#jumbo(labelWidth + pixel, lane)
  }

  /** As opacity, the share that each shard has of the chunks of a pixel; and the jumbo chunks. */
  #shares(width: number): [image: ImageData, jumbo: readonly (readonly [pixel: number, lane: number])[]] {
    const { chunks, window, shards } = this.#data
    const image = new ImageData(width, shards.length)
    const colours = shards.map((_, lane) => channelsOf(colourOf(lane)))
    const counts = new Uint32Array(shards.length)
    const jumbo: [pixel: number, lane: number][] = []
    let place = window.from
    for (let pixel = 0; pixel < width; pixel++) {
      const end = Math.min(window.to, window.from + Math.round((pixel + 1) / this.#scale))
      const count = end - place
      for (; place < end; place++) {
        const chunk = chunks[place]!
        const lane = this.#laneOf.get(chunk.shard)
        if (lane === undefined) continue
        counts[lane]!++
        if (chunk.jumbo === true) jumbo.push([pixel, lane])
      }
      for (let lane = 0; lane < counts.length; lane++) {
        const ofLane = counts[lane]!
        if (ofLane === 0) continue
        const at = 4 * (lane * width + pixel)
        image.data.set(colours[lane]!, at)
        image.data[at + 3] = 64 + Math.round(191 * (ofLane / count))
        counts[lane] = 0
      }
    }
    return [image, jumbo]
  }

  /** A triangle, so that the mark does not depend on colours. */
  #jumbo(x: number, lane: number): void {
    const context = this.#context
    const bottom = this.#topOf(lane) + this.#size.laneHeight
    context.fillStyle = badColour()
    context.strokeStyle = inkColour()
    context.beginPath()
    context.moveTo(x - 5, bottom)
    context.lineTo(x + 5, bottom)
    context.lineTo(x, bottom - 8)
    context.closePath()
    context.fill()
    context.stroke()
  }

  zones(): void {
    const context = this.#context
    for (const { zone, fromKey, toKey } of this.#data.zones) {
      const [from, to] = this.#rangeOf(fromKey, toKey)
      if (to <= from) continue
      context.fillStyle = ruleColour()
      context.fillRect(from, 2, Math.max(2, to - from - 1), zoneHeight)
      context.fillStyle = inkColour()
      context.textAlign = 'center'
      context.fillText(fitting(zone, to - from - 4), (from + to) / 2, 2 + zoneHeight / 2)
    }
  }

  /** As dark as the share of the operations or bytes, relative to the hottest chunk. */
  heat(): void {
    const { heat, window } = this.#data
    if (heat === null) return
    const context = this.#context
    const top = this.#size.top - heatHeight - 2
    context.fillStyle = inkColour()
    context.textAlign = 'left'
    context.fillText(heat.of, 0, top + heatHeight / 2 + 1, labelWidth - 6)
    const pixels = Math.min(window.to - window.from, Math.ceil(this.#size.width - labelWidth))
    const perPixel = (window.to - window.from) / Math.max(1, pixels)
    for (let pixel = 0; pixel < pixels; pixel++) {
      const [from, to] = [pixel, pixel + 1].map((each) => window.from + Math.round(each * perPixel))
      const share = heat.shares.subarray(from, to).reduce((most, each) => Math.max(most, each), 0)
      if (share === 0) continue
      context.globalAlpha = 0.15 + 0.85 * (share / heat.most)
      context.fillRect(this.#xOf(from!), top, Math.max(1, this.#xOf(to!) - this.#xOf(from!)), heatHeight)
    }
    context.globalAlpha = 1
  }

  /** Framed at the donor and, dashed, at the recipient, with a line between them. */
  migrations(): void {
    const context = this.#context
    context.strokeStyle = inkColour()
    context.lineWidth = 2
    for (const { fromKey, toKey, from: donor, to: recipient } of this.#data.migrations) {
      const lanes = [donor, recipient].map((shard) => this.#laneOf.get(shard))
      const [left, right] = this.#rangeOf(fromKey, toKey)
      if (fromKey === '' || right <= left) continue
      for (const [i, lane] of lanes.entries()) {
        if (lane === undefined) continue
        context.setLineDash(i === 0 ? [] : [4, 3])
        context.strokeRect(left, this.#topOf(lane), Math.max(3, right - left), this.#size.laneHeight)
      }
      if (lanes[0] === undefined || lanes[1] === undefined) continue
      const middle = (left + right) / 2
      context.beginPath()
      context.moveTo(middle, this.#topOf(lanes[0]) + this.#size.laneHeight / 2)
      context.lineTo(middle, this.#topOf(lanes[1]) + this.#size.laneHeight / 2)
      context.stroke()
    }
    context.setLineDash([])
    context.lineWidth = 1
  }

  selection(): void {
    const { selected, window } = this.#data
    if (selected === null || selected < window.from || selected >= window.to) return
    this.#context.strokeStyle = inkColour()
    this.#context.lineWidth = 2
    this.#context.strokeRect(this.#xOf(selected), 1, Math.max(2, this.#scale), this.#size.height - 2)
    this.#context.lineWidth = 1
  }

  #topOf = (lane: number): number => this.#size.top + lane * (this.#size.laneHeight + laneGap)

  #xOf = (place: number): number => labelWidth + (place - this.#data.window.from) * this.#scale

  /** Of the chunks that overlap a range, within the plot. */
  #rangeOf(fromKey: string, toKey: string): [from: number, to: number] {
    const { chunks } = this.#data
    const first = placeOf(chunks, fromKey)
    // A range can begin within a chunk.
    const from = chunks[first]?.key === fromKey ? first : Math.max(0, first - 1)
    const within = (place: number): number => Math.min(this.#size.width, Math.max(labelWidth, this.#xOf(place)))
    return [within(from), within(placeOf(chunks, toKey))]
  }
}
