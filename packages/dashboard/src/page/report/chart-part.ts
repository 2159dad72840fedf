/** A chart of a report, with its values as a table. */
import type { LineChart } from '@shardlab/report'
import { html, type TemplateResult } from 'lit-html'
import { lineChart, valueTable } from '../components/line-chart.js'
import { lazyDetails } from '../components/local-state.js'

/** @param instant a value of x that the page shows; null: none */
export function chartPart(chart: LineChart, instant: number | null, redraw: () => void): TemplateResult {
  const details = { of: chart, name: 'values', summary: `${chart.title} as a table`, redraw }
  return html`<div class="chart">${lineChart(chart, instant)} ${lazyDetails(details, () => valueTable(chart))}</div>`
}
