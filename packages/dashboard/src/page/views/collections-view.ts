/** The chunk map of a collection, with zoom, and its chunks as a table. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { LiveChunk, LiveCollection } from '../../stream/deltas.js'
import { placeOf, type ChunkCounts } from '../../stream/live-state.js'
import { chunkDetails, chunkTable, type ChunkTableData } from './chunk-table.js'
import { chunkHeat, heatChoice, heatNotes, hottestText } from './chunk-heat.js'
import type { App, View } from '../app.js'
import { isDark } from '../components/palette.js'
import type { Heat } from '../heat.js'
import { boundText, counted, noCollection, whole } from '../text.js'
import { drawChunkMap, labelWidth, scaleOf, sizeOf, type ChunkMapData } from './chunk-canvas.js'
import { ownersHistory } from './owners-history.js'
import { historySlider, showPresent, shownChunks } from './history-slider.js'
import { allOf, around, clamp, pan, zoom, type ChunkWindow } from './chunk-window.js'
import { zoneTable } from './zone-table.js'

let chosen: string | null = null
/** null: all chunks, also those that are added. */
let shownWindow: ChunkWindow | null = null
/** The lower bound of the selected chunk, so that it stays the same when others are split. */
let selectedKey: string | null = null

/** What the canvas shows, because most deltas do not change it. */
let drawn: { readonly canvas: HTMLCanvasElement; readonly what: string; readonly heat: Heat | null } | null = null

export const collectionsView: View = {
  name: 'collections',
  title: 'Collections',
  draw(app) {
    const names = namesOf(app)
    const collection = presentOf(app)
    if (collection === undefined)
      return html`<h1>Collections</h1>
        <p>${noCollection(app.state)}</p>
        ${
          app.state.catalog.readAtMs === 0
            ? nothing
            : html`<p>For example: <code>sh.shardCollection("shop.orders", { customer: 1 })</code></p>`
        }`
    return html`<h1>Collections</h1>
      <p>
        <label
          >Collection
          <select @change=${(event: Event) => choose((event.target as HTMLSelectElement).value, app)}>
            ${names.map((ns) => html`<option value=${ns} ?selected=${ns === collection.ns}>${ns}</option>`)}
          </select></label
        >
        ${heatChoice(app)}
      </p>
      ${map(collection, app)}`
  },
  drawn(app) {
    const canvas = document.querySelector<HTMLCanvasElement>('canvas.chunks')
    const collection = presentOf(app)
    // A page that is not visible may have no layout.
    if (canvas === null || collection === undefined || canvas.clientWidth <= labelWidth) return
    const data = dataOf(collection, app)
    const size = sizeOf(canvas.clientWidth, data)
    const { chunks: _, sizes: __, ...others } = data
    const { heat, ...rest } = others
    const what = JSON.stringify([shownChunks(collection.ns, app).id, size, rest, devicePixelRatio, isDark()])
    if (drawn?.canvas === canvas && drawn.what === what && drawn.heat === heat) return
    drawn = { canvas, what, heat }
    drawChunkMap(canvas, size, data)
  },
}

/** Those of the server itself are last. */
function namesOf({ state }: App): string[] {
  const names = [...state.collections.keys()].sort()
  const isOwn = (ns: string): boolean => ns.startsWith('config.')
  return [...names.filter((ns) => !isOwn(ns)), ...names.filter(isOwn)]
}

function presentOf(app: App): LiveCollection | undefined {
  const { collections } = app.state
  return collections.get(chosen ?? '') ?? collections.get(namesOf(app)[0] ?? '')
}

function choose(ns: string, app: App): void {
  chosen = ns
  shownWindow = null
  selectedKey = null
  showPresent()
  app.redraw()
}

function dataOf({ ns, zones }: LiveCollection, app: App): ChunkTableData {
  const { state } = app
  const shown = shownChunks(ns, app)
  const { chunks, atMs } = shown
  const place = selectedKey === null ? 0 : placeOf(chunks, selectedKey)
  return {
    ...chunkHeat(ns, shown, app),
    ...{ chunks, zones, shards: [...state.shards.keys()].sort() },
    // Those of the past are in the timeline.
    migrations: atMs === null ? [...state.migrations.values()].filter((migration) => migration.ns === ns) : [],
    window: shownWindow === null ? allOf(chunks.length) : clamp(shownWindow, chunks.length),
    selected: selectedKey !== null && chunks[place]?.key === selectedKey ? place : null,
  }
}

/** What keys and clicks on the map do, by the state of this moment. */
function controlsOf(collection: LiveCollection, app: App) {
  const data = dataOf(collection, app)
  const { chunks, window, selected } = data
  const show = (changed: ChunkWindow | null): void => {
    shownWindow = changed
    app.redraw()
  }
  const middle = (window.from + window.to) / 2
  const zoomBy = (factor: number, at = selected ?? middle): void => show(zoom(window, factor, at, chunks.length))
  const panBy = (windows: number): void => show(pan(window, windows, chunks.length))
  const isShown = (place: number): boolean => place >= window.from && place < window.to
  const select = (place: number): void => {
    selectedKey = chunks[place]?.key ?? null
    if (!isShown(place)) show(around(place, window, chunks.length))
    app.redraw()
  }
  const placeAt = (event: MouseEvent): number => {
    const canvas = event.currentTarget as HTMLCanvasElement
    const x = event.clientX - canvas.getBoundingClientRect().left - labelWidth
    return window.from + x / scaleOf(sizeOf(canvas.clientWidth, data), window)
  }
  const byKey: Readonly<Record<string, () => void>> = {
    '+': () => zoomBy(0.5),
    '=': () => zoomBy(0.5),
    '-': () => zoomBy(2, middle),
    '0': () => show(null),
    ArrowLeft: () => select(Math.max(0, (selected ?? window.from) - 1)),
    ArrowRight: () => select(Math.min(chunks.length - 1, (selected ?? window.from - 1) + 1)),
    PageUp: () => panBy(-0.8),
    PageDown: () => panBy(0.8),
    Home: () => select(0),
    End: () => select(chunks.length - 1),
  }
  return { show, zoomBy, panBy, isShown, select, placeAt, byKey }
}

function map(collection: LiveCollection, app: App): TemplateResult {
  const data = dataOf(collection, app)
  const { chunks, window, migrations, zones } = data
  // Several keys may arrive before the page is drawn again.
  const now = () => controlsOf(collection, app)
  const onClick = (event: MouseEvent): void => {
    const { placeAt, isShown, select } = now()
    const place = Math.floor(placeAt(event))
    // Otherwise it is a label of a lane.
    if (isShown(place)) select(place)
  }
  const onKey = (event: KeyboardEvent): void => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : now().byKey[event.key]
    if (action === undefined) return
    event.preventDefault()
    action()
  }
  const onWheel = (event: WheelEvent): void => {
    // Without a modifier the page scrolls.
    if (!event.ctrlKey && !event.shiftKey) return
    event.preventDefault()
    const { panBy, zoomBy, placeAt } = now()
    if (event.shiftKey) panBy(Math.sign(event.deltaY + event.deltaX) * 0.1)
    else zoomBy(event.deltaY < 0 ? 0.7 : 1 / 0.7, placeAt(event))
  }
  const { counts, atMs } = shownChunks(collection.ns, app)
  const { jumbo } = counts
  const summary = [
    `key ${boundText(collection.shardKey)}`,
    counted(chunks.length, 'chunk'),
    ...(zones.length === 0 ? [] : [counted(zones.length, 'zone range')]),
    ...(jumbo === 0 ? [] : [`▲ ${jumbo} jumbo`]),
    ...(migrations.length === 0 ? [] : [counted(migrations.length, 'migration')]),
    ...(data.heat === null ? [] : [hottestText(data.heat)]),
    ...(collection.balanced ? [] : ['balancing is off']),
  ].join(' · ')
  const isAll = window.to - window.from === chunks.length
  return html`<p class="summary" data-chunks=${chunks.length}>${summary}</p>
    <p class="buttons" role="group" aria-label="Zoom">
      <button type="button" @click=${() => now().zoomBy(0.5)}>Zoom in</button>
      <button type="button" ?disabled=${isAll} @click=${() => now().byKey['-']!()}>Zoom out</button>
      <button type="button" ?disabled=${window.from === 0} @click=${() => now().panBy(-0.5)}>← Lower keys</button>
      <button type="button" ?disabled=${window.to === chunks.length} @click=${() => now().panBy(0.5)}>
        Higher keys →
      </button>
      <button type="button" ?disabled=${isAll} @click=${() => now().show(null)}>All</button>
    </p>
    <figure>
      <canvas
        class="chunks"
        tabindex="0"
        role="application"
        aria-roledescription="chunk map"
        aria-label="Chunk map of ${collection.ns}: ${summary}. ${ownersText(data, counts)}. The table below has the chunks."
        @keydown=${onKey}
        @wheel=${onWheel}
        @click=${onClick}
        @dblclick=${(event: MouseEvent) => {
          const { zoomBy, placeAt } = now()
          zoomBy(0.5, placeAt(event))
        }}
      ></canvas>
      <figcaption class="ends">
        <span>${edge(chunks, window.from)}</span>
        <span
          >${isAll ? '' : `chunks ${whole(window.from + 1)} to ${whole(window.to)} of ${whole(chunks.length)}`}</span
        >
        <span>${edge(chunks, window.to)}</span>
      </figcaption>
    </figure>
    ${historySlider(collection.ns, app)}
    <p class="soft">
      Click, or ← and →: one chunk. + and −, or Ctrl and the wheel: zoom. Page up and down: along the keys.
    </p>
    ${chunkDetails(data)} ${heatNotes(data, atMs, app)} ${movements(data)} ${chunkTable(data, app)}
    ${zoneTable(collection, app)} ${ownersHistory(collection, app)}`
}

const ownersText = ({ shards }: ChunkMapData, { byShard }: Pick<ChunkCounts, 'byShard'>): string =>
  shards.map((shard) => `${shard} has ${byShard.get(shard) ?? 0}`).join(', ')

const edge = (chunks: readonly LiveChunk[], place: number): string => boundText(chunks[place]?.min ?? 'MaxKey')

function movements({ migrations }: ChunkMapData): TemplateResult {
  return html`<section aria-label="Migrations">
    <h2>Migrations in motion</h2>
    ${
      migrations.length === 0
        ? html`<p>None.</p>`
        : html`<ul>
            ${migrations.map(
              ({ from, to, min, max, stage, documents }) =>
                html`<li>
                  ${boundText(min)} to ${boundText(max)}: <strong>${from} → ${to}</strong>, ${stage},
                  ${counted(documents, 'document')}
                </li>`,
            )}
          </ul>`
    }
  </section>`
}
