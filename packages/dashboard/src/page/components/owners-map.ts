/** The map of a collection's owners over time, with the names of its shards and a table. */
import type { Owners, OwnerWidths } from '@shardlab/report'
import { html, nothing, type TemplateResult } from 'lit-html'
import { boundText, percent } from '../text.js'
import { drawnBy } from './drawing.js'
import { lazyDetails, stateOf } from './local-state.js'
import { OwnersCanvas, pointedAt, type OwnersData } from './owners-canvas.js'
import { shardNames } from './shard-names.js'
import { tableFrame } from './table-frame.js'

const tableRowsMax = 200

const drawn = drawnBy<OwnersData>((element) => new OwnersCanvas(element))

export interface OwnersMap {
  readonly owners: Owners
  /** Stays the same object while the owners change. */
  readonly of: object
  /** Of the rows, as texts. */
  readonly times: readonly string[]
  /** Those of the whole run: their places are their colours. */
  readonly shards: readonly string[]
  /** The place of the shown instant. */
  readonly instant: number
  readonly redraw: () => void
}

interface MapState {
  /** Name of the chosen widths. */
  widths: string
  stressed: number | null
  pointed: string
}

export function ownersMap({ owners, of, times, shards, instant, redraw }: OwnersMap): TemplateResult {
  const { ns, widths, bounds, rows } = owners
  const [first] = widths
  const state = stateOf<MapState>(of, `map of ${ns}`, () => ({ widths: first!.name, stressed: null, pointed: '' }))
  const set = (change: Partial<MapState>): void => {
    Object.assign(state, change)
    redraw()
  }
  const chosen = widths.find(({ name }) => name === state.widths) ?? first!
  const { stressed } = state
  const data: OwnersData = { owners, times, shards: shards.length, widths: chosen.shares, instant, stressed }
  const present = [...new Set(rows.flatMap((row) => row.map(([, , shard]) => shard)))].sort((a, b) => a - b)
  const point = (event: PointerEvent): void => {
    const canvas = event.currentTarget as HTMLCanvasElement
    const { left, top } = canvas.getBoundingClientRect()
    const at = pointedAt(data, { width: canvas.clientWidth, x: event.clientX - left, y: event.clientY - top })
    const pointed = at === null ? '' : `${shards[at.shard]} at ${times[at.row]}, from ${boundText(bounds[at.range]!)}`
    if (pointed !== state.pointed) set({ pointed })
  }
  const button = ({ name }: OwnerWidths): TemplateResult =>
    html`<button type="button" aria-pressed=${name === chosen.name} @click=${() => set({ widths: name })}>
      ${name}
    </button>`
  return html`<figure class="owners">
    <figcaption><strong>Owners of ${ns} over time</strong> <span class="soft">${state.pointed}</span></figcaption>
    ${
      widths.length === 1
        ? nothing
        : html`<p class="buttons" role="group" aria-label="Width of a range">
            <span>Width of a range:</span> ${widths.map(button)}
          </p>`
    }
    <div class="scroll" tabindex="0" role="region" aria-label="Owners of ${ns} over time">
      <canvas
        class="owners"
        role="img"
        aria-label="At ${times[instant]}: ${sharesText(data, shards)}. The table below has the ranges."
        @pointermove=${point}
        @pointerleave=${() => set({ pointed: '' })}
        ${drawn(data)}
      ></canvas>
    </div>
    <p class="axis">shard key; ranges are as wide as their ${chosen.title}</p>
    ${shardNames({ shards, present, stressed, stress: (stressed) => set({ stressed }) })}
    ${lazyDetails({ of, name: `ranges of ${ns}`, summary: `Ranges at ${times[instant]} as a table`, redraw }, () => rangeTable(data, shards))}
  </figure>`
}

/** With more shards, those with the most. */
const namedMax = 12

function sharesText({ owners, instant, widths }: OwnersData, shards: readonly string[]): string {
  const shares = new Map<number, number>()
  for (const [from, to, shard] of owners.rows[instant] ?? [])
    shares.set(shard, (shares.get(shard) ?? 0) + widths.slice(from, to).reduce((sum, each) => sum + each, 0))
  const largest = [...shares].toSorted(([, a], [, b]) => b - a)
  const named = largest.slice(0, namedMax).map(([shard, share]) => `${shards[shard]} has ${percent(share)}`)
  const rest = largest.length - named.length
  return `${named.join(', ')}${rest > 0 ? `, and ${rest} others` : ''}`
}

function rangeTable({ owners, instant }: OwnersData, shards: readonly string[]): TemplateResult {
  const { bounds, zones } = owners
  const ranges = owners.rows[instant] ?? []
  const rows = ranges.slice(0, tableRowsMax).map(([from, to, shard]) => {
    const within = zones.filter((zone) => zone.from < to && from < zone.to).map(({ zone }) => zone)
    return html`<tr>
      <td>${boundText(bounds[from]!)}</td>
      <td>${to < bounds.length ? boundText(bounds[to]!) : 'MaxKey'}</td>
      <td>${shards[shard]}</td>
      <td>${within.join(', ')}</td>
    </tr>`
  })
  const rest = ranges.length - rows.length
  return html`${tableFrame(`Ranges of ${owners.ns}`, ['from', 'to', 'shard', 'zones'], rows)}
  ${rest > 0 ? html`<p class="soft">${rest} more.</p>` : nothing}`
}
