/** The lines of a chart, drawn by uPlot, with marks over them. */
import type { Axis, LineChart, Series } from '@shardlab/report'
import uPlot from 'uplot'
import { readableTicks } from './chart-labels.js'
import type { Drawing } from './drawing.js'
import { lonePoints } from './lone-points.js'
import { numberText } from './number-texts.js'
import { badColour, colourOf, dashOf, isDark, ruleColour, softColour } from './palette.js'
import { PlotMarks } from './plot-marks.js'
import { logTicks, rangeOf, stepsOf } from './plot-scales.js'
import { textFont, widthOf } from './text-width.js'

const heightPixels = 220
/** Half of a tick's text can be beyond the plot. */
const rightPixels = 30
const tickGap = 12

export interface LinePlotData {
  readonly chart: LineChart
  /** A value of x that the page shows; null: none. */
  readonly instant: number | null
}

export class LinePlot implements Drawing<LinePlotData> {
  readonly #parent: HTMLElement
  /** Also notices an element that becomes visible. */
  readonly #sizes: ResizeObserver
  #data: LinePlotData | null = null
  #drawn: { readonly plot: uPlot; readonly marks: PlotMarks; readonly look: string; chart: LineChart } | null = null

  constructor(parent: HTMLElement) {
    this.#parent = parent
    this.#sizes = new ResizeObserver(() => this.#draw())
    this.#sizes.observe(parent)
  }

  show(data: LinePlotData): void {
    this.#data = data
    this.#draw()
  }

  end(): void {
    this.#sizes.disconnect()
    this.#drawn?.plot.destroy()
    this.#drawn = null
  }

  #draw(): void {
    const width = this.#parent.clientWidth
    if (this.#data === null || width === 0) return
    const { chart, instant } = this.#data
    const look = lookOf(chart, width)
    if (this.#drawn?.look !== look) {
      this.#drawn?.plot.destroy()
      this.#parent.textContent = ''
      const marks = new PlotMarks(chart, width)
      const options = optionsOf(chart, width, marks, (at) => this.#showValues(at))
      this.#drawn = { plot: new uPlot(options, dataOf(chart), this.#parent), marks, look, chart }
    } else if (this.#drawn.chart !== chart) {
      this.#drawn.plot.setData(dataOf(chart))
      this.#drawn.chart = chart
    }
    this.#drawn.marks.showInstant(instant, this.#drawn.plot)
  }

  /** Beside the names below the plot. @param at place of x; null: the pointer is elsewhere */
  #showValues(at: number | null): void {
    const figure = this.#parent.closest('figure')
    if (figure === null || this.#drawn === null) return
    const { plot, chart } = this.#drawn
    for (const [i, element] of figure.querySelectorAll('.legend .value').entries()) {
      const value = at === null ? null : plot.data[i + 1]?.[at]
      element.textContent = typeof value === 'number' ? numberText(value, chart.y.format) : ''
    }
    const x = at === null ? undefined : plot.data[0]?.[at]
    figure.querySelector('.pointed')!.textContent = typeof x === 'number' ? numberText(x, chart.x.format) : ''
  }
}

/** Equal looks need new data only, and not another plot. */
function lookOf({ x, y, series, marks, bands, hasDots }: LineChart, width: number): string {
  return JSON.stringify([x, y, series.map(({ name, tone }) => [name, tone]), marks, bands, hasDots, width, isDark()])
}

function dataOf({ series }: LineChart): uPlot.AlignedData {
  const tables = series.map(({ points }): uPlot.AlignedData => [points.map(([x]) => x), points.map(([, y]) => y)])
  return tables.length === 1 ? tables[0]! : uPlot.join(tables)
}

function optionsOf(
  chart: LineChart,
  width: number,
  marks: PlotMarks,
  showValues: (at: number | null) => void,
): uPlot.Options {
  const { x, y, series, hasDots } = chart
  return {
    ...{ width, height: heightPixels + marks.labelHeight, padding: [marks.labelHeight + 8, rightPixels, 0, 0] },
    ...{ axes: [xAxis(x), yAxis(y)], series: [{}, ...series.map((line, i) => lineOf(line, i, hasDots))] },
    scales: {
      x: { time: false, distr: x.scale === 'log' ? 3 : 1, range: rangeOf(x, false) },
      y: { distr: y.scale === 'log' ? 3 : 1, range: rangeOf(y, true) },
    },
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    hooks: {
      ready: [(plot) => plot.over.append(marks.element)],
      draw: [(plot) => marks.place(plot)],
      setCursor: [({ cursor: { idx, left } }) => showValues(left === undefined || left < 0 ? null : (idx ?? null))],
    },
  }
}

function lineOf({ tone }: Series, place: number, hasDots: boolean): uPlot.Series {
  const colour = tone === 'bad' ? badColour() : colourOf(tone)
  return {
    ...{ stroke: colour, width: tone === 'bad' ? 3 : 2, dash: [...dashOf(place)] },
    points: {
      ...{ show: true, size: hasDots ? 8 : 4, fill: colour },
      filter: (plot, number) => (hasDots ? null : lonePoints(plot.data[number]!)),
    },
  }
}

const colours = () => ({
  ...{ stroke: softColour(), font: textFont },
  grid: { stroke: ruleColour(), width: 1 },
  ticks: { stroke: ruleColour(), width: 1, size: 5 },
})

const textsOf =
  ({ format }: Axis): uPlot.Axis.DynamicValues =>
  (_, values) =>
    values.map((value) => numberText(value, format))

function xAxis(axis: Axis): uPlot.Axis {
  const { ticks, format, scale } = axis
  const steps = stepsOf(axis)
  const isFixed = ticks !== undefined || scale === 'log'
  const readable = (plot: uPlot, low: number, high: number): number[] => {
    const all = ticks?.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001) ?? logTicks(low, high)
    // Positions are known after the first round of the layout.
    const placed = all.map((value) => ({ value, x: plot.valToPos(value, 'x'), text: numberText(value, format) }))
    return readableTicks(placed, widthOf).map(({ value }) => value)
  }
  return {
    ...{ ...colours(), size: 26, gap: 3, values: textsOf(axis) },
    ...(steps === undefined ? {} : { incrs: steps }),
    ...(isFixed ? { splits: (plot, _, low, high) => readable(plot, low, high), filter: (_, all) => all } : {}),
    space: (_, __, low, high) =>
      Math.max(...[low, high, (low + high) / 2].map((each) => widthOf(numberText(each, format)))) + 24,
  }
}

function yAxis(axis: Axis): uPlot.Axis {
  const steps = stepsOf(axis)
  return {
    ...{ ...colours(), gap: 4, values: textsOf(axis) },
    ...(steps === undefined ? {} : { incrs: steps }),
    ...(axis.scale === 'log' ? { splits: (_, __, low, high) => logTicks(low, high), filter: (_, all) => all } : {}),
    space: 34,
    size: (_, texts) => Math.ceil(Math.max(24, ...(texts ?? []).map((text) => widthOf(text ?? '')))) + tickGap,
  }
}
