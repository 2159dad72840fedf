/** The chunks of a map as texts. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { LiveChunk, LiveZone } from '../../stream/deltas.js'
import type { App } from '../app.js'
import { boundText, whole } from '../text.js'
import type { ChunkMapData } from './chunk-canvas.js'
import { heatSentence, heatText, type ChunkHeat } from './chunk-heat.js'
import { tableFrame } from '../components/table-frame.js'

const rowsMax = 200

/** While the table is closed, it has no rows. */
let isOpen = false

const endOf = (chunks: readonly LiveChunk[], place: number): string => boundText(chunks[place + 1]?.min ?? 'MaxKey')

export interface ChunkTableData extends ChunkMapData {
  readonly sizes: ChunkHeat['sizes']
}

function zonesOf({ chunks, zones }: ChunkMapData, place: number): string {
  const { key } = chunks[place]!
  const end = chunks[place + 1]?.key
  return zones
    .filter(({ fromKey, toKey }) => toKey > key && (end === undefined || fromKey < end))
    .map((zone) => (isWithin(zone, key, end) ? zone.zone : `${zone.zone} in part`))
    .join(', ')
}

/** @param end undefined: MaxKey */
const isWithin = ({ fromKey, toKey, max }: LiveZone, key: string, end: string | undefined): boolean =>
  fromKey <= key && (end === undefined ? max.includes('{"$maxKey":1}') : end <= toKey)

/** Also without a selection, because screen readers read changes of elements that are there. */
export function chunkDetails(data: ChunkTableData): TemplateResult {
  return html`<p class="chosen" aria-live="polite">
      ${data.selected === null ? nothing : sentenceOf(data, data.selected)}
    </p>
    ${
      data.selected === null || data.heat === null
        ? nothing
        : html`<p class="soft">${heatSentence(data, data.selected)}</p>`
    }`
}

function sentenceOf(data: ChunkMapData, place: number): TemplateResult {
  const { min, shard, jumbo } = data.chunks[place]!
  const zones = zonesOf(data, place)
  return html`Chunk ${whole(place + 1)} on <strong>${shard}</strong>: from <code>${boundText(min)}</code> to
    <code>${endOf(data.chunks, place)}</code
    >${zones === '' ? '' : `, zone ${zones}`}${jumbo === true ? ', jumbo' : ''}.`
}

export function chunkTable(data: ChunkTableData, app: App): TemplateResult {
  const toggle = (event: Event): void => {
    const { open } = event.currentTarget as HTMLDetailsElement
    if (open === isOpen) return
    isOpen = open
    app.redraw()
  }
  return html`<details ?open=${isOpen} @toggle=${toggle}>
    <summary>Chunks in this view as a table</summary>
    ${isOpen ? rows(data) : nothing}
  </details>`
}

function rows(data: ChunkTableData): TemplateResult {
  const { chunks, window } = data
  const shown = chunks.slice(window.from, Math.min(window.to, window.from + rowsMax))
  const left = window.to - window.from - shown.length
  const chunkRows = shown.map(
    ({ min, shard, jumbo }, i) =>
      html`<tr>
        <td>${boundText(min)}</td>
        <td>${endOf(chunks, window.from + i)}</td>
        <td>${shard}</td>
        <td>${zonesOf(data, window.from + i)}</td>
        <td>${jumbo === true ? 'jumbo' : ''}</td>
        <td>${heatText(data, window.from + i)}</td>
      </tr>`,
  )
  return html`${tableFrame('Chunks', ['from', 'to', 'shard', 'zone', 'jumbo', data.heat?.of ?? 'operations'], chunkRows, 'chunk-table')}
  ${left > 0 ? html`<p class="soft">${whole(left)} more: zoom in.</p>` : ''}`
}
