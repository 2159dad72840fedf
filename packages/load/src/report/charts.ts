import { axis } from './chart-axis.js'
import { coveringLines, placeLabels, readableTicks, textWidth } from './chart-labels.js'
import { escape } from './escape.js'

export interface Series {
  readonly name: string
  /** CSS class of the colour: `s0` … `s7`, `bad`. */
  readonly tone: string
  /** NaN as y interrupts the line. */
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface ChartOptions {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly xScale?: 'linear' | 'log'
  readonly yScale?: 'linear' | 'log'
  readonly xShown: (value: number) => string
  readonly yShown: (value: number) => string
  /** Vertical lines with a text; with `until`, bands. */
  readonly marks?: readonly { readonly x: number; readonly until?: number; readonly text: string }[]
  /** Values are counts: no ticks between integers. */
  readonly yWhole?: boolean
  /** Where the axis begins. Default 0. */
  readonly yFrom?: number
  /** Shaded intervals of the horizontal axis, and what they are. */
  readonly bands?: { readonly name: string; readonly ranges: readonly (readonly [from: number, to: number])[] }
  /** Default: that of the points. */
  readonly xDomain?: readonly [from: number, to: number]
  /** Ticks instead of round numbers. */
  readonly xTicks?: readonly number[]
  readonly dots?: boolean
}

/** A page shows the one that fits its width, in which texts keep their size. */
interface Frame {
  readonly name: 'large' | 'small'
  readonly width: number
  readonly plotHeight: number
  /** `left` is the least: ticks may need more. */
  readonly margin: { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number }
}

const frames: readonly Frame[] = [
  { name: 'large', width: 860, plotHeight: 220, margin: { left: 80, right: 28, top: 34, bottom: 46 } },
  { name: 'small', width: 400, plotHeight: 200, margin: { left: 60, right: 16, top: 34, bottom: 46 } },
]

/** Of the rotated label of the vertical axis, with the space after it. */
const axisLabelWidth = 26
const tickGap = 8
/** Charts below each other mostly begin at the same place. */
const marginStep = 20

/** Labels of marks are above the plot, so that they cover no lines. */
const markRows = 8
const markRowHeight = 14

export function lineChart(series: readonly Series[], options: ChartOptions): string {
  const isEmpty = series.every(({ points }) => points.every(([, y]) => Number.isNaN(y)))
  if (isEmpty) return ''
  const [large, small] = frames.map((frame) => draw(series, options, frame)) as [Drawing, Drawing]
  const { bands } = options
  const keys = [
    ...(series.length < 2
      ? []
      : series.map(({ name, tone }, i) => {
          const line = `<path class="line ${tone}${large.covering[i] === true ? ' over' : ''}" d="M0 4H24"/>`
          return `<span><svg class="key" viewBox="0 0 24 8" aria-hidden="true">${line}</svg>${escape(name)}</span>`
        })),
    ...(bands === undefined || bands.ranges.length === 0
      ? []
      : [
          `<span><svg class="key" viewBox="0 0 24 8" aria-hidden="true"><rect class="open" width="24" height="8"/></svg>${escape(bands.name)}</span>`,
        ]),
  ]
  const legend = keys.length === 0 ? '' : `<p class="legend">${keys.join('')}</p>`
  return `<figure>${large.svg}${small.svg}${legend}</figure>`
}

interface Drawing {
  readonly svg: string
  /** By series: it is drawn with gaps. */
  readonly covering: readonly boolean[]
}

function draw(series: readonly Series[], options: ChartOptions, { name, width, plotHeight, margin }: Frame): Drawing {
  const points = series.flatMap((line) => line.points).filter(([, y]) => !Number.isNaN(y))
  const xValues = options.xDomain ?? points.map(([value]) => value)
  const yValues = points.map(([, value]) => value)
  const yLimits = { low: options.yFrom ?? 0, whole: options.yWhole ?? false }
  const yAxis = (from: number, to: number) => axis(yValues, options.yScale ?? 'linear', from, to, undefined, yLimits)
  const tickWidth = Math.max(0, ...yAxis(1, 0).ticks.map((tick) => textWidth(options.yShown(tick))))
  const needed = Math.max(margin.left, axisLabelWidth + tickWidth + tickGap)
  const left = Math.ceil(needed / marginStep) * marginStep
  const right = width - margin.right
  const x = axis(xValues, options.xScale ?? 'linear', left, right, options.xTicks)
  const labels = placeLabels(
    (options.marks ?? []).map(({ x: at, text }) => ({ x: x.at(at), text })),
    { from: left, to: right, rows: markRows },
  )
  const rows = labels.reduce((most, label) => Math.max(most, label === null ? 0 : label.row + 1), 0)
  const top = margin.top + rows * markRowHeight
  const bottom = top + plotHeight
  const height = bottom + margin.bottom
  const y = yAxis(bottom, top)
  const round = (value: number): string => value.toFixed(1)
  const within = (value: number): number => Math.min(right, Math.max(left, x.at(value)))
  const bands = (options.bands?.ranges ?? []).map(
    ([from, to]) =>
      `<rect class="open" x="${round(within(from))}" y="${top}" width="${round(Math.max(0.5, within(to) - within(from)))}" height="${plotHeight}"/>`,
  )
  const grid = y.ticks.map(
    (tick) =>
      `<line class="grid" x1="${left}" x2="${right}" y1="${round(y.at(tick))}" y2="${round(y.at(tick))}"/><text class="tick" text-anchor="end" x="${left - tickGap}" y="${round(y.at(tick) + 4)}">${escape(options.yShown(tick))}</text>`,
  )
  const foot = readableTicks(x.ticks.map((tick) => ({ x: x.at(tick), text: options.xShown(tick) }))).map(
    ({ x: at, text }) =>
      `<text class="tick" text-anchor="middle" x="${round(at)}" y="${bottom + 18}">${escape(text)}</text>`,
  )
  const marks = (options.marks ?? []).map(({ x: at, until, text }, i) => {
    const start = x.at(at)
    const label = labels[i]!
    const band =
      until === undefined
        ? ''
        : `<rect class="band" x="${round(start)}" y="${top}" width="${round(Math.max(1, Math.min(x.at(until), right) - start))}" height="${plotHeight}"/>`
    const lineTop = label === null ? top : margin.top + label.row * markRowHeight
    const shown =
      label === null
        ? ''
        : `<text class="marked" text-anchor="${label.anchor}" x="${round(label.x)}" y="${lineTop + 10}">${escape(label.text)}</text>`
    const title = `<title>${escape(text)}</title>`
    return {
      line: `<g>${band}<line class="mark" x1="${round(start)}" x2="${round(start)}" y1="${lineTop}" y2="${bottom}"/>${title}</g>`,
      // After all lines, so that its edge covers one that crosses it.
      label: shown === '' ? '' : `<g>${shown}${title}</g>`,
    }
  })
  const covering = coveringLines(series.map((line) => line.points.map(([a, b]) => [x.at(a), y.at(b)] as const)))
  const lines = series.map(({ tone, points: own }, number) => {
    const isGap = (i: number): boolean => own[i] === undefined || Number.isNaN(own[i][1])
    const place = (i: number): string => `${round(x.at(own[i]![0]))} ${round(y.at(own[i]![1]))}`
    const path = own.map((_, i) => (isGap(i) ? '' : `${isGap(i - 1) ? 'M' : 'L'}${place(i)}`)).join('')
    const dots = own.map(([a, b], i) => {
      if (isGap(i) || !(options.dots === true || (isGap(i - 1) && isGap(i + 1)))) return ''
      return `<circle class="${tone}" cx="${round(x.at(a))}" cy="${round(y.at(b))}" r="${options.dots === true || own.length === 1 ? 3.5 : 1.5}"/>`
    })
    return `<path class="line ${tone}${covering[number] === true ? ' over' : ''}" d="${path}"/>${dots.join('')}`
  })
  // Lets a script of the page mark an instant: positions and values of the axis ends.
  const ends = [Math.min(...xValues), Math.max(...xValues), left, right, top, bottom].join(' ')
  const svg = `<svg class="${name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(options.title)}" data-axis="${ends}"><text class="title" x="${name === 'large' ? left : 8}" y="18">${escape(options.title)}</text>${bands.join('')}${grid.join('')}${foot.join('')}<text class="label" text-anchor="middle" x="${(left + right) / 2}" y="${height - 6}">${escape(options.xLabel)}</text><text class="label" text-anchor="middle" transform="translate(14 ${(top + bottom) / 2}) rotate(-90)">${escape(options.yLabel)}</text>${lines.join('')}${marks.map(({ line }) => line).join('')}${marks.map(({ label }) => label).join('')}</svg>`
  return { svg, covering }
}
