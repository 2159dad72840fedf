/** What the heat of the chunk map shows: operations or bytes. */
import { html, nothing, type TemplateResult } from 'lit-html'
import { readableSize } from '@shardlab/quantities'
import type { LiveChunk } from '../../stream/deltas.js'
import type { App } from '../app.js'
import { chunkSizesOf, sizeOfChunk, type ChunkSizes } from '../chunk-sizes.js'
import { bytesHeatOf, knownHeatOf, type Heat } from '../heat.js'
import { memo } from '../memo.js'
import { nowOf } from '../now.js'
import { counted, percent } from '../text.js'
import type { ShownChunks } from './history-slider.js'

let chosen: Heat['of'] = 'operations'

const known = memo<Heat>()

export interface ChunkHeat {
  /** Null: nothing is known. */
  readonly heat: Heat | null
  /** Null: the heat shows operations, or the sizes are not known. */
  readonly sizes: ChunkSizes | null
}

interface HeatOfChunks extends ChunkHeat {
  readonly chunks: readonly LiveChunk[]
}

export function chunkHeat(ns: string, shown: ShownChunks, app: App): ChunkHeat {
  // Shards know the sizes of the present alone, and routers the operations of the last minute.
  if (shown.atMs !== null) return { heat: null, sizes: null }
  if (chosen === 'operations') {
    const { state } = app
    const heat = knownHeatOf(ns, shown, state.operations, nowOf(state))
    return { heat: heat.most === 0 ? null : heat, sizes: null }
  }
  const sizes = chunkSizesOf(ns, app)
  if (sizes === null || sizes.byKey.size === 0) return { heat: null, sizes }
  return { heat: known([shown.id, sizes], () => bytesHeatOf(shown.chunks, sizes)), sizes }
}

export function heatChoice(app: App): TemplateResult {
  const choose = (event: Event): void => {
    chosen = (event.target as HTMLSelectElement).value as Heat['of']
    app.redraw()
  }
  return html`<label
    >Heat
    <select class="heat" @change=${choose}>
      <option value="operations" ?selected=${chosen === 'operations'}>operations</option>
      <option value="bytes" ?selected=${chosen === 'bytes'}>bytes</option>
    </select></label
  >`
}

export const hottestText = ({ of, most }: Heat): string =>
  of === 'operations'
    ? `the hottest chunk has ${percent(most)} of the operations`
    : `the largest chunk has ${percent(most)} of the bytes`

/** Of one chunk, for a cell of a table. Empty: nothing is known. */
export function heatText({ heat, sizes, chunks }: HeatOfChunks, place: number): string {
  if (heat === null) return ''
  const share = percent(heat.shares[place]!)
  return sizes === null ? share : `${readableSize(sizeOfChunk(sizes, chunks, place).bytes)} (${share})`
}

/** Of the selected chunk. */
export function heatSentence({ heat, sizes, chunks }: HeatOfChunks, place: number): string {
  if (heat === null) return ''
  const share = `It has ${percent(heat.shares[place]!)} of the ${heat.of}`
  if (sizes === null) return `${share}.`
  const { documents, bytes } = sizeOfChunk(sizes, chunks, place)
  return `${share}: ${counted(documents, 'document')}, ${readableSize(bytes)}.`
}

/** Why there is no heat, or what its shares leave out. @param atMs null: the present */
export function heatNotes({ heat, sizes }: ChunkHeat, atMs: number | null, app: App): TemplateResult | typeof nothing {
  const notes = [
    ...(heat === null ? [`No heat: ${missing(sizes, atMs, app)}.`] : []),
    ...(sizes === null || sizes.errors.length === 0 ? [] : [...sizes.errors, 'The shares are those of the others.']),
  ]
  return notes.length === 0 ? nothing : html`<p class="soft">${notes.join(' ')}</p>`
}

function missing(sizes: ChunkSizes | null, atMs: number | null, app: App): string {
  if (atMs !== null) return 'only that of the present is known'
  if (chosen === 'operations') return 'in the last minute no operation had bounds of the shard key'
  if (sizes !== null) return 'the shards have no documents of the collection, or do not answer'
  return app.isPaused ? 'the sizes were not known when the page was paused' : 'the shards are being asked for the sizes'
}
