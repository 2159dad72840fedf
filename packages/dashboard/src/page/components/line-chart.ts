/** A chart with lines: its title, the plot, the names of the lines, and its values as a table. */
import type { LineChart } from '@shardlab/report'
import { html, nothing, svg, type TemplateResult } from 'lit-html'
import { drawnBy } from './drawing.js'
import { LinePlot, type LinePlotData } from './line-plot.js'
import { numberText } from './number-texts.js'
import { badColour, colourOf, dashOf } from './palette.js'
import { tableFrame } from './table-frame.js'

const tableRowsMax = 60

const plotted = drawnBy<LinePlotData>((element) => new LinePlot(element))

/** @param instant a value of x that the page shows; null: none */
export function lineChart(chart: LineChart, instant: number | null = null): TemplateResult {
  const { title, x, y } = chart
  return html`<figure class="lines">
    <figcaption>
      <strong>${title}</strong> <span class="soft">${y.label}</span> <span class="pointed"></span>
    </figcaption>
    <div class="plot" role="img" aria-label="${title}. ${lastValues(chart)}" ${plotted({ chart, instant })}></div>
    <p class="axis">${x.label}</p>
    ${legend(chart)}
  </figure>`
}

function lastValues({ series, x, y }: LineChart): string {
  const ends = series.map(({ name, points }) => {
    const last = points.findLast(([, value]) => value !== null)
    return last === undefined ? name : `${name} ${numberText(last[1]!, y.format)} at ${numberText(last[0], x.format)}`
  })
  return `${y.label} at the end: ${ends.join(', ')}.`
}

function legend({ series, bands }: LineChart): TemplateResult {
  return html`<p class="legend">
    ${series.map(({ name, tone }, place) => {
      const colour = tone === 'bad' ? badColour() : colourOf(tone)
      const line = svg`<line x2="28" y1="4" y2="4" stroke=${colour} stroke-width="2.5" stroke-dasharray=${dashOf(place).join(' ')}></line>`
      return html`<span
        ><svg class="key" viewBox="0 0 28 8" aria-hidden="true">${line}</svg>${name} <b class="value"></b
      ></span>`
    })}
    ${bands === null || bands.ranges.length === 0 ? nothing : html`<span><i class="key open"></i>${bands.name}</span>`}
  </p>`
}

/** At most 60 values of x, among them the last. */
export function valueTable({ title, x, y, series }: LineChart): TemplateResult {
  const all = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b)
  const every = Math.max(1, Math.ceil(all.length / tableRowsMax))
  const shown = all.filter((_, i) => (all.length - 1 - i) % every === 0)
  const values = series.map(({ points }) => new Map(points))
  const rows = shown.map(
    (at) =>
      html`<tr>
        <th scope="row">${numberText(at, x.format)}</th>
        ${values.map((each) => {
          const value = each.get(at)
          return html`<td class="number">${typeof value === 'number' ? numberText(value, y.format) : '–'}</td>`
        })}
      </tr>`,
  )
  return tableFrame(`${title}, ${y.label}`, [x.label, ...series.map(({ name }) => name)], rows)
}
