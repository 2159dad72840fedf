/** The parts of a report as elements. */
import type { Cell, Details, ReportPart, RichText, Table, Tiles, Tone } from '@shardlab/report'
import { html, nothing, type TemplateResult } from 'lit-html'
import { bars } from '../components/bars.js'
import { lazyDetails } from '../components/local-state.js'
import { colourOf } from '../components/palette.js'
import { tableWithHead } from '../components/table-frame.js'
import { chartPart } from './chart-part.js'
import { instantsPart } from './instants-part.js'
import { timelinePart } from './timeline-part.js'

export function partOf(part: ReportPart, redraw: () => void): TemplateResult {
  switch (part.kind) {
    case 'heading':
      return headingOf(part.level, part.text)
    case 'paragraph':
      return html`<p class=${part.tone ?? ''}>${rich(part.text)}</p>`
    case 'list':
      return html`<ul class="sentences ${part.tone ?? ''}">
        ${part.items.map((item) => html`<li>${rich(item)}</li>`)}
      </ul>`
    case 'code':
      return html`<pre tabindex="0">${part.text}</pre>`
    case 'tiles':
      return tilesOf(part)
    case 'table':
      return tableOf(part)
    case 'details':
      return detailsOf(part, redraw)
    case 'lines':
      return chartPart(part, null, redraw)
    case 'bars':
      return html`<figure>
        <figcaption><strong>${part.title}</strong></figcaption>
        ${bars(
          part.bars.map(({ tone, ...bar }) => ({ ...bar, colour: colourOf(tone) })),
          Math.max(...part.bars.map(({ value }) => value)),
        )}
      </figure>`
    case 'instants':
      return instantsPart(part, redraw)
    case 'timeline':
      return timelinePart(part, redraw)
  }
}

function headingOf(level: 1 | 2 | 3, text: string): TemplateResult {
  if (level === 1) return html`<h1>${text}</h1>`
  return level === 2 ? html`<h2>${text}</h2>` : html`<h3>${text}</h3>`
}

function rich(text: RichText): unknown {
  if (typeof text === 'string') return text
  return text.map((piece) => {
    if (typeof piece === 'string') return piece
    return 'code' in piece ? html`<code>${piece.code}</code>` : html`<strong>${piece.strong}</strong>`
  })
}

function tilesOf({ tiles }: Tiles): TemplateResult {
  return html`<dl class="tiles">
    ${tiles.map(
      ({ name, value, tone }) =>
        html`<div class="tile">
          <dt>${name}</dt>
          <dd class=${tone ?? ''}>${value}</dd>
        </div>`,
    )}
  </dl>`
}

/** Headers have titles. */
const groupOf = (title: string, columns: number): TemplateResult =>
  title === ''
    ? html`<td colspan=${columns}></td>`
    : html`<th class="group" colspan=${columns} scope="colgroup">${title}</th>`

function tableOf({ label, columns, groups, rows }: Table): TemplateResult {
  const hasTitles = columns.some(({ title }) => title !== '')
  const head = html`${
    groups === undefined
      ? nothing
      : html`<tr>
          ${groups.map(({ title, columns: count }) => groupOf(title, count))}
        </tr>`
  }
  ${
    hasTitles
      ? html`<tr>
          ${columns.map(({ title, holds }) => (title === '' ? html`<td></td>` : html`<th scope="col" class=${holds}>${title}</th>`))}
        </tr>`
      : nothing
  }`
  const bodyRows = rows.map(
    ({ cells, isPart }) =>
      html`<tr class=${isPart === true ? 'part' : ''}>
        ${cells.map((cell, i) => cellOf(cell, columns[i]!.holds, i === 0))}
      </tr>`,
  )
  return tableWithHead(label, head, bodyRows, 'report')
}

function cellOf(cell: Cell, holds: string, isFirst: boolean): TemplateResult {
  const { text, tone } = withTone(cell)
  const classes = `${holds} ${tone ?? ''}`
  return isFirst
    ? html`<th scope="row" class=${classes}>${rich(text)}</th>`
    : html`<td class=${classes}>${rich(text)}</td>`
}

function withTone(cell: Cell): { readonly text: RichText; readonly tone?: Tone } {
  return typeof cell === 'string' || Array.isArray(cell)
    ? { text: cell as RichText }
    : (cell as { text: RichText; tone: Tone })
}

function detailsOf(part: Details, redraw: () => void): TemplateResult {
  const { summary, isOpen, parts } = part
  return lazyDetails(
    { of: part, name: 'details', summary, isOpen, redraw },
    () => html`${parts.map((each) => partOf(each, redraw))}`,
  )
}
