/** The format of a report: what its page shows, as data. JSON keeps all of it. */
import type { BarChart, LineChart } from './charts.js'
import type { Instants } from './instants.js'
import type { Table } from './table.js'
import type { Cell, RichText, Tone } from './texts.js'
import type { Timeline } from './timeline.js'

export interface ReportPage {
  /** Version of this format. */
  readonly shardlabReport: 1
  readonly title: string
  /** Shown instead of the parts where scripts are forbidden. */
  readonly text: string
  readonly parts: readonly ReportPart[]
}

export type ReportPart =
  | Heading
  | Paragraph
  | List
  | Code
  | Tiles
  | Details
  | Table
  | LineChart
  | BarChart
  | Instants
  | Timeline

export interface Heading {
  readonly kind: 'heading'
  readonly level: 1 | 2 | 3
  readonly text: string
}

export interface Paragraph {
  readonly kind: 'paragraph'
  readonly text: RichText
  readonly tone?: Tone
}

export interface List {
  readonly kind: 'list'
  readonly items: readonly RichText[]
  readonly tone?: Tone
}

/** Lines in a font of equal widths. */
export interface Code {
  readonly kind: 'code'
  readonly text: string
}

/** Large numbers beside each other. */
export interface Tiles {
  readonly kind: 'tiles'
  readonly tiles: readonly { readonly name: string; readonly value: string; readonly tone?: Tone }[]
}

/** Parts that are hidden until their summary is clicked. */
export interface Details {
  readonly kind: 'details'
  readonly summary: string
  readonly isOpen: boolean
  readonly parts: readonly ReportPart[]
}

export const heading = (level: Heading['level'], text: string): Heading => ({ kind: 'heading', level, text })

export const paragraph = (text: RichText, tone?: Tone): Paragraph => ({
  ...{ kind: 'paragraph', text },
  ...(tone === undefined ? {} : { tone }),
})

export const list = (items: readonly RichText[], tone?: Tone): List => ({
  ...{ kind: 'list', items },
  ...(tone === undefined ? {} : { tone }),
})

/** @param tone absent: that of other cells */
export const cell = (text: RichText, tone?: Tone): Cell => (tone === undefined ? text : { text, tone })
