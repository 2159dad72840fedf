/** A timeline: its picture, and its entries as a table whose kinds can be hidden. */
import type { Timeline, TimelineEntry } from '@shardlab/report'
import { html, nothing, svg, type TemplateResult } from 'lit-html'
import { kindFilter } from '../components/kind-filter.js'
import { stateOf } from '../components/local-state.js'
import { tableFrame } from '../components/table-frame.js'
import { timelineChart } from '../components/timeline-chart.js'

/** The filter of what is not about the subject of the timeline. */
const ownName = 'own'

const timeText = (ms: number): string => `${ms.toFixed(1)} ms`

export function timelinePart(part: Timeline, redraw: () => void): TemplateResult {
  const { label, lanes, lines, fromMs, toMs, legend, entries, kinds, ownTitle } = part
  const { hidden } = stateOf(part, 'filter', () => ({ hidden: new Set<string>() }))
  const ownKind = ownTitle === null ? [] : [{ name: ownName, title: ownTitle }]
  const isOwnOnly = ownTitle !== null && !hidden.has(ownName)
  const shown = entries.filter(({ kind, relation }) => !hidden.has(kind) && !(isOwnOnly && relation === 'other'))
  return html`<figure>
      ${timelineChart({ label: `${label}. The table below has the entries.`, lanes, lines, fromMs, toMs, timeText })}
      <p class="legend lanes-legend">
        ${legend.map(({ tone, text }) => html`<span><svg class="key" viewBox="0 0 28 8" aria-hidden="true">${svg`<rect class=${tone} width="28" height="8"></rect>`}</svg>${text}</span>`)}
      </p>
    </figure>
    ${kindFilter({ kinds: [...kinds, ...ownKind], hidden, redraw })}
    ${tableFrame('Timeline', ['virtual ms', 'what', 'client or member', ''], shown.map(entryRow), 'entries')}`
}

const entryRow = ({ atMs, kind, member, text, relation }: TimelineEntry): TemplateResult =>
  html`<tr class="${kind === 'violation' ? 'bad' : ''} ${relation === 'own' ? 'own' : ''}" data-kind=${kind}>
    <td class="number">${atMs.toFixed(1)}</td>
    <td>${kind}</td>
    <td>${member}</td>
    <td class="why">${text === '' ? nothing : text}</td>
  </tr>`
