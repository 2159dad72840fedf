/**
 * How a number of an axis is shown: with three digits; as an integer; with two decimals; as a
 * multiple (`1.5 ×`); as a duration in that unit; x as the percentile 1 - 1/x, so that each power
 * of ten adds a nine; milliseconds since 1970 as the time of the day (UTC).
 */
export type NumberFormat =
  | 'number'
  | 'integer'
  | 'ratio'
  | 'times'
  | 'microseconds'
  | 'milliseconds'
  | 'nines'
  | 'clock'

export interface Axis {
  readonly label: string
  readonly format: NumberFormat
  /** Absent: linear. */
  readonly scale?: 'log'
  /** Absent: round numbers. */
  readonly ticks?: readonly number[]
  /** Where the axis begins and ends at least. Absent: with the points; a linear y axis with 0. */
  readonly from?: number
  readonly to?: number
}

export interface Series {
  readonly name: string
  /** Place in the palette. */
  readonly tone: number | 'bad'
  /** In the order of x. null as y interrupts the line. */
  readonly points: readonly (readonly [x: number, y: number | null])[]
}

export interface Mark {
  readonly at: number
  /** Absent: an instant. */
  readonly until?: number
  readonly text: string
}

export interface LineChart {
  readonly kind: 'lines'
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
  /** Events on the x axis. */
  readonly marks: readonly Mark[]
  /** Shaded parts of the x axis, and what they are. */
  readonly bands: { readonly name: string; readonly ranges: readonly (readonly [from: number, to: number])[] } | null
  /** Points are drawn as dots, too. */
  readonly hasDots: boolean
}

export interface BarChart {
  readonly kind: 'bars'
  readonly title: string
  readonly bars: readonly {
    readonly name: string
    readonly value: number
    readonly shown: string
    readonly tone: number
  }[]
}

/** undefined: there is no point to draw */
export function lineChart(
  chart: Pick<LineChart, 'title' | 'x' | 'y' | 'series'> & Partial<LineChart>,
): LineChart | undefined {
  if (chart.series.every(({ points }) => points.every(([, y]) => y === null))) return undefined
  const series = chart.series.map((each) => ({
    ...each,
    points: each.points.map(([x, y]) => [x, rounded(y)] as const),
  }))
  return { marks: [], bands: null, hasDots: false, ...chart, kind: 'lines', series }
}

const digits = 6

/** Digits that no chart shows would double the size of a page. */
const rounded = (value: number | null): number | null =>
  value === null || Number.isInteger(value) ? value : Number(value.toPrecision(digits))
