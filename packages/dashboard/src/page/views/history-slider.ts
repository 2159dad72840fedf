/** Shows the chunks of a collection as they were. The history begins with the page. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { LiveChunk } from '../../stream/deltas.js'
import type { ChunkCounts } from '../../stream/live-state.js'
import type { App } from '../app.js'
import { counted, timeText } from '../text.js'

/** null: the present. It stays the same when the history grows, or loses its oldest moments. */
let shownAtMs: number | null = null

export interface ShownChunks {
  readonly chunks: readonly LiveChunk[]
  readonly counts: Pick<ChunkCounts, 'byShard' | 'jumbo'>
  /** null: the present. */
  readonly atMs: number | null
  /** Of the chunks that are shown; equal ids mean equal chunks. */
  readonly id: string
}

/** Of the past, so that it is not computed for each drawing. */
let past: ShownChunks | null = null

/** null: the present. */
export const shownMoment = (): number | null => shownAtMs

export function showPresent(): void {
  shownAtMs = null
}

export function shownChunks(ns: string, { state, history }: App): ShownChunks {
  const present = state.chunksOf(ns)
  const counts = state.countsOf(ns)
  const times = history.timesOf(ns)
  const count = countAt(times)
  if (count === times.length) return { chunks: present, counts, atMs: null, id: `${ns} ${counts.changes}` }
  // The oldest moments are dropped, so that a count alone would not tell two states apart.
  const id = `${ns} after ${times[count - 1] ?? `all before ${times[0]}`}`
  if (past?.id !== id) {
    const chunks = history.after(count, ns, present)
    past = { chunks, counts: countOf(chunks), atMs: times[count - 1] ?? 0, id }
  }
  return past
}

function countAt(times: readonly number[]): number {
  const atMs = shownAtMs
  return atMs === null ? times.length : times.filter((each) => each <= atMs).length
}

function countOf(chunks: readonly LiveChunk[]): ShownChunks['counts'] {
  const byShard = new Map<string, number>()
  for (const { shard } of chunks) byShard.set(shard, (byShard.get(shard) ?? 0) + 1)
  return { byShard, jumbo: chunks.filter(({ jumbo }) => jumbo === true).length }
}

export function historySlider(ns: string, app: App): TemplateResult | typeof nothing {
  const times = app.history.timesOf(ns)
  if (times.length === 0) return nothing
  const count = countAt(times)
  const move = (event: Event): void => {
    const moved = (event.target as HTMLInputElement).valueAsNumber
    shownAtMs = moved === times.length ? null : (times[moved - 1] ?? 0)
    app.redraw()
  }
  const back = (): void => {
    showPresent()
    app.redraw()
  }
  const isPast = count < times.length
  const text = isPast ? (count === 0 ? 'at the beginning' : `at ${timeText(times[count - 1]!)}`) : 'now'
  return html`<p class="history">
    <label
      >History
      <input
        type="range"
        name="history"
        min="0"
        max=${times.length}
        .value=${String(count)}
        aria-valuetext="${text}, after ${counted(count, 'step')}"
        @input=${move}
    /></label>
    <strong class=${isPast ? 'warn' : ''}>${text}</strong>
    <button type="button" ?disabled=${!isPast} @click=${back}>Back to now</button>
  </p>`
}
