/** The chunks of a map as texts. */
import { html, type TemplateResult } from 'lit-html'
import type { LiveChunk } from '../../stream/deltas.js'
import { boundText, whole } from '../text.js'
import type { ChunkMapData } from './chunk-canvas.js'

const rowsMax = 200

const endOf = (chunks: readonly LiveChunk[], place: number): string => boundText(chunks[place + 1]?.min ?? 'MaxKey')

function zonesOf({ chunks, zones }: ChunkMapData, place: number): string {
  const { key } = chunks[place]!
  const end = chunks[place + 1]?.key
  return zones
    .filter(({ fromKey, toKey }) => toKey > key && (end === undefined || fromKey < end))
    .map(({ zone }) => zone)
    .join(', ')
}

export function chunkDetails(data: ChunkMapData, place: number): TemplateResult {
  const { min, shard, jumbo } = data.chunks[place]!
  const zones = zonesOf(data, place)
  return html`<p class="chosen" aria-live="polite">
    Chunk ${whole(place + 1)} on <strong>${shard}</strong>: from <code>${boundText(min)}</code> to
    <code>${endOf(data.chunks, place)}</code>${zones === '' ? '' : `, zone ${zones}`}${jumbo === true ? ', jumbo' : ''}.
  </p>`
}

export function chunkTable(data: ChunkMapData): TemplateResult {
  const { chunks, window } = data
  const shown = chunks.slice(window.from, Math.min(window.to, window.from + rowsMax))
  const left = window.to - window.from - shown.length
  return html`<details>
    <summary>Chunks in this view as a table</summary>
    <div class="wide" tabindex="0" role="region" aria-label="Chunks">
      <table class="chunk-table">
        <thead>
          <tr>
            <th scope="col">from</th>
            <th scope="col">to</th>
            <th scope="col">shard</th>
            <th scope="col">zone</th>
            <th scope="col">jumbo</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            ({ min, shard, jumbo }, i) =>
              html`<tr>
                <td>${boundText(min)}</td>
                <td>${endOf(chunks, window.from + i)}</td>
                <td>${shard}</td>
                <td>${zonesOf(data, window.from + i)}</td>
                <td>${jumbo === true ? 'jumbo' : ''}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${left > 0 ? html`<p class="soft">${whole(left)} more: zoom in.</p>` : ''}
  </details>`
}
