/** Who owned a collection's key space since the page was opened: the map that reports have, too. */
import { ownersOf, type Owners } from '@shardlab/report'
import { html, type TemplateResult } from 'lit-html'
import type { LiveChunk, LiveCollection } from '../../stream/deltas.js'
import type { App } from '../app.js'
import type { ChunkHistory } from '../chunk-history.js'
import { lazyDetails } from '../components/local-state.js'
import { ownersMap } from '../components/owners-map.js'
import { memo } from '../memo.js'
import { timeText } from '../text.js'
import { shownMoment } from './history-slider.js'

const rowsMax = 60
/** Computed again at most so often, because it reads the whole history. */
const everyMs = 1000

export interface OwnersHistory {
  /** undefined: there never was a chunk. */
  readonly owners: Owners | undefined
  /** When each row has begun. null: before the first known change. */
  readonly times: readonly (number | null)[]
}

const known = memo<OwnersHistory>()

/** At most 61 rows, among them the first and the present one. */
export function ownersHistoryOf(
  { ns, zones }: Pick<LiveCollection, 'ns' | 'zones'>,
  present: readonly LiveChunk[],
  history: ChunkHistory,
  shards: readonly string[],
): OwnersHistory {
  const changes = history.timesOf(ns)
  const every = Math.max(1, Math.ceil(changes.length / rowsMax))
  const rows: (readonly LiveChunk[])[] = [present]
  const times: (number | null)[] = [changes.at(-1) ?? null]
  let count = changes.length
  for (const chunks of history.backwards(ns, present)) {
    count--
    if (count !== 0 && (changes.length - count) % every !== 0) continue
    // The next step changes the list.
    rows.unshift([...chunks])
    times.unshift(changes[count - 1] ?? null)
  }
  const sizes = { name: 'chunks', title: 'number of chunks', values: present.map(() => 1) }
  return { owners: ownersOf({ ns, rows, shards, zones, sizes }), times }
}

export function ownersHistory(collection: LiveCollection, app: App): TemplateResult {
  const { state, history } = app
  const redraw = (): void => app.redraw()
  const summary = 'Owners over time, since the page was opened'
  return lazyDetails({ of: app, name: `owners of ${collection.ns}`, summary, redraw }, () => {
    const shards = [...state.shards.keys()].sort()
    const keys = [history, collection.ns, history.timesOf(collection.ns).length, Math.floor(Date.now() / everyMs)]
    const present = state.chunksOf(collection.ns)
    const { owners, times } = known(keys, () => ownersHistoryOf(collection, present, history, shards))
    if (owners === undefined) return html`<p>None.</p>`
    const texts = times.map((atMs) => (atMs === null ? 'first' : timeText(atMs).slice(0, 8)))
    const shownMs = shownMoment()
    const instant =
      shownMs === null
        ? times.length - 1
        : Math.max(
            0,
            times.findLastIndex((atMs) => atMs !== null && atMs <= shownMs),
          )
    return ownersMap({ owners, of: app, times: texts, shards, instant, redraw })
  })
}
