import { coveringLines, placeLabels, readableTicks } from './chart-labels.js'

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
  /** Default: that of the points. */
  readonly xDomain?: readonly [from: number, to: number]
  /** Ticks instead of round numbers. */
  readonly xTicks?: readonly number[]
  readonly dots?: boolean
}

const width = 860
const height = 300
const margin = { left: 92, right: 34, top: 34, bottom: 46 }

const markRows = Math.floor((height - margin.top - margin.bottom - 12) / 14)

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export function lineChart(series: readonly Series[], options: ChartOptions): string {
  const points = series.flatMap((line) => line.points).filter(([, y]) => !Number.isNaN(y))
  if (points.length === 0) return ''
  const xValues = options.xDomain ?? points.map(([value]) => value)
  const x = axis(xValues, options.xScale ?? 'linear', margin.left, width - margin.right, options.xTicks)
  const y = axis(
    points.map(([, value]) => value),
    options.yScale ?? 'linear',
    height - margin.bottom,
    margin.top,
    undefined,
    { fromZero: true, whole: options.yWhole ?? false },
  )
  const round = (value: number): string => value.toFixed(1)
  const grid = y.ticks.map(
    (tick) =>
      `<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${round(y.at(tick))}" y2="${round(y.at(tick))}"/><text class="tick" text-anchor="end" x="${margin.left - 8}" y="${round(y.at(tick) + 4)}">${escape(options.yShown(tick))}</text>`,
  )
  const foot = readableTicks(x.ticks.map((tick) => ({ x: x.at(tick), text: options.xShown(tick) }))).map(
    ({ x: at, text }) =>
      `<text class="tick" text-anchor="middle" x="${round(at)}" y="${height - margin.bottom + 18}">${escape(text)}</text>`,
  )
  const labels = placeLabels(
    (options.marks ?? []).map(({ x: at, text }) => ({ x: x.at(at), text })),
    { from: margin.left, to: width - margin.right, rows: markRows },
  )
  const marks = (options.marks ?? []).map(({ x: at, until, text }, i) => {
    const left = x.at(at)
    const band =
      until === undefined
        ? ''
        : `<rect class="band" x="${round(left)}" y="${margin.top}" width="${round(Math.max(1, Math.min(x.at(until), width - margin.right) - left))}" height="${height - margin.bottom - margin.top}"/>`
    const label = labels[i]!
    const shown =
      label === null
        ? ''
        : `<text class="marked" text-anchor="${label.anchor}" x="${round(label.x)}" y="${margin.top + 12 + label.row * 14}">${escape(label.text)}</text>`
    return `<g>${band}<line class="mark" x1="${round(left)}" x2="${round(left)}" y1="${margin.top}" y2="${height - margin.bottom}"/>${shown}<title>${escape(text)}</title></g>`
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
  const legend =
    series.length < 2
      ? ''
      : `<p class="legend">${series.map(({ name, tone }) => `<span><i class="${tone}"></i>${escape(name)}</span>`).join('')}</p>`
  // Lets a script of the page mark an instant: positions and values of the axis ends.
  const ends = [
    Math.min(...xValues),
    Math.max(...xValues),
    margin.left,
    width - margin.right,
    margin.top,
    height - margin.bottom,
  ].join(' ')
  return `<figure><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(options.title)}" data-axis="${ends}"><text class="title" x="${margin.left}" y="18">${escape(options.title)}</text>${grid.join('')}${foot.join('')}<text class="label" text-anchor="middle" x="${(margin.left + width - margin.right) / 2}" y="${height - 6}">${escape(options.xLabel)}</text><text class="label" text-anchor="middle" transform="translate(14 ${(margin.top + height - margin.bottom) / 2}) rotate(-90)">${escape(options.yLabel)}</text>${lines.join('')}${marks.join('')}</svg>${legend}</figure>`
}

export function barChart(
  title: string,
  bars: readonly { readonly name: string; readonly value: number; readonly shown: string; readonly tone: string }[],
): string {
  if (bars.length === 0) return ''
  const row = 26
  const tall = 30 + bars.length * row
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  // A character is about seven pixels wide.
  const longest = (of: (bar: (typeof bars)[number]) => string): number =>
    7 * Math.max(...bars.map((bar) => of(bar).length))
  const left = Math.min(320, Math.max(90, longest(({ name }) => name) + 20))
  const right = Math.min(340, longest(({ shown }) => shown) + 16)
  const drawn = bars.map(({ name, value, shown, tone }, i) => {
    const top = 28 + i * row
    const length = ((width - left - right) * value) / most
    return `<text class="tick" text-anchor="end" x="${left - 10}" y="${top + 15}">${escape(name)}</text><rect class="${tone}" x="${left}" y="${top + 2}" width="${Math.max(1, length).toFixed(1)}" height="${row - 8}"/><text class="tick" x="${(left + length + 8).toFixed(1)}" y="${top + 15}">${escape(shown)}</text>`
  })
  return `<figure><svg viewBox="0 0 ${width} ${tall}" role="img" aria-label="${escape(title)}"><text class="title" x="0" y="18">${escape(title)}</text>${drawn.join('')}</svg></figure>`
}

interface Axis {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

function axis(
  values: readonly number[],
  scale: 'linear' | 'log',
  from: number,
  to: number,
  wanted?: readonly number[],
  { fromZero, whole } = { fromZero: false, whole: false },
): Axis {
  if (scale === 'log') {
    const positive = values.filter((value) => value > 0)
    const low = Math.min(...positive, 1e9)
    const high = Math.max(...positive, low * 1.0001)
    const [a, b] =
      wanted === undefined ? [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))] : [low, high]
    const span = Math.max(1e-9, Math.log(b) - Math.log(a))
    const ticks: number[] = []
    for (let tick = a; tick <= b * 1.0001; tick *= 10) ticks.push(tick)
    return {
      at: (value) => from + ((to - from) * (Math.log(Math.max(value, a)) - Math.log(a))) / span,
      ticks: wanted ?? ticks,
    }
  }
  const low = fromZero ? 0 : Math.min(...values)
  const top = Math.max(...values, low + 1e-9)
  const step = Math.max(whole ? 1 : 0, roundStep((top - low) / 5))
  const high = fromZero ? Math.max(step, Math.ceil(top / step) * step) : top
  const ticks: number[] = []
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) ticks.push(tick)
  return { at: (value) => from + ((to - from) * (value - low)) / Math.max(1e-9, high - low), ticks: wanted ?? ticks }
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)))
  const factor = rough / power
  return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10)
}
