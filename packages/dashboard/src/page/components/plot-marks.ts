/**
 * Elements over the plot of a chart: events with their texts, bands of time, and the instant that
 * the page shows.
 */
import type { LineChart } from '@shardlab/report'
import type uPlot from 'uplot'
import { placeLabels, type LabelRoom } from './chart-labels.js'
import { widthOf } from './text-width.js'

/** Texts of marks are above the plot, so that they cover no lines. */
const rowsMax = 8
const rowHeight = 15
/** Of the y axis, before the plot is laid out. */
const axisPixels = 90

export class PlotMarks {
  readonly element = document.createElement('div')
  /** Of the rows above the plot. */
  readonly labelHeight: number
  readonly #chart: LineChart
  readonly #rows: number
  readonly #instant = document.createElement('i')
  #shownInstant: number | null = null

  /** @param width of the plot with its axes */
  constructor(chart: LineChart, width: number) {
    this.#chart = chart
    this.element.className = 'marks'
    this.#instant.className = 'instant'
    const span = spanOf(chart)
    const room = Math.max(1, width - axisPixels)
    const marks = chart.marks.map(({ at, text }) => ({ x: (room * (at - span.from)) / (span.to - span.from), text }))
    // A row more than is needed now, because the plot is a little wider.
    const labels = placeLabels(marks, { from: 0, to: room, rows: rowsMax - 1 }, widthOf)
    const rows = labels.reduce((most, label) => Math.max(most, label === null ? 0 : label.row + 1), 0)
    this.#rows = rows === 0 ? 0 : rows + 1
    this.labelHeight = this.#rows * rowHeight
  }

  /** After each layout of the plot. */
  place(plot: uPlot): void {
    const { bands, marks } = this.#chart
    const [width, height] = [plot.over.clientWidth, plot.over.clientHeight]
    const xOf = (value: number): number => plot.valToPos(value, 'x')
    const part = (name: string, title: string, from: number, to: number, top: number): HTMLElement =>
      box(name, title, { left: from, width: to - from, top, height: height - top })
    const parts = (bands?.ranges ?? []).flatMap(([from, to]) => {
      const [left, right] = [Math.max(0, xOf(from)), Math.min(width, xOf(to))]
      return right <= left ? [] : [part('open', bands!.name, left, right, 0)]
    })
    const shown = marks
      .map((mark) => ({ ...mark, x: xOf(mark.at), end: Math.min(width, xOf(mark.until ?? mark.at)) }))
      .filter(({ x, end }) => end >= 0 && x <= width + 0.5)
    const room: LabelRoom = { from: 0, to: width, rows: this.#rows }
    const labels = placeLabels(shown, room, widthOf)
    // Rows are numbered from the top, and the lowest one is next to the plot.
    const rows = labels.reduce((most, label) => Math.max(most, label === null ? 0 : label.row + 1), 0)
    const texts: HTMLElement[] = []
    for (const [i, { x, end, until, text }] of shown.entries()) {
      const label = labels[i]!
      const top = label === null ? 0 : (label.row - rows) * rowHeight
      if (until !== undefined) parts.push(part('band', text, Math.max(0, x), Math.max(x + 1, end), 0))
      if (x >= 0) parts.push(part('mark', text, x, x, top))
      if (label === null) continue
      const { x: at, anchor, text: shownText } = label
      const left = anchor === 'start' ? at : at - widthOf(shownText)
      const element = box('marked', text, { left, width: Math.ceil(widthOf(shownText)) + 1, top, height: rowHeight })
      element.textContent = shownText
      texts.push(element)
    }
    // Texts are last, so that their background covers lines that cross them.
    this.element.replaceChildren(...parts, ...texts, this.#instant)
    this.#placeInstant(plot)
  }

  showInstant(value: number | null, plot: uPlot): void {
    this.#shownInstant = value
    this.#placeInstant(plot)
  }

  #placeInstant(plot: uPlot): void {
    const x = this.#shownInstant === null ? -1 : plot.valToPos(this.#shownInstant, 'x')
    this.#instant.hidden = !(x >= 0 && x <= plot.over.clientWidth + 0.5)
    this.#instant.style.left = `${x}px`
  }
}

function spanOf({ x, series }: LineChart): { readonly from: number; readonly to: number } {
  const ends = series.flatMap(({ points }) => [points[0]?.[0], points.at(-1)?.[0]]).filter((end) => end !== undefined)
  const [from, to] = [Math.min(x.from ?? Infinity, ...ends), Math.max(x.to ?? -Infinity, ...ends)]
  return { from, to: to > from ? to : from + 1 }
}

interface Place {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

function box(name: string, title: string, place: Place): HTMLElement {
  const element = document.createElement(name === 'marked' ? 'span' : 'i')
  element.className = name
  element.title = title
  for (const [side, pixels] of Object.entries(place)) element.style.setProperty(side, `${pixels}px`)
  return element
}
