/** A run at single instants: a slider, the shards at that instant, charts and maps. */
import { readableDuration, readableSize } from '@shardlab/quantities'
import type { Instants } from '@shardlab/report'
import { html, type TemplateResult } from 'lit-html'
import { bars, cells, type Bar } from '../components/bars.js'
import { stateOf } from '../components/local-state.js'
import { ownersMap } from '../components/owners-map.js'
import { manyColours } from '../components/palette.js'
import { counted } from '../text.js'
import { chartPart } from './chart-part.js'

/** With more shards, each is a cell that is filled in proportion instead of a bar. */
const barsMax = 24

export function instantsPart(part: Instants, redraw: () => void): TemplateResult {
  const { times, shards, charts, owners } = part
  const state = stateOf(part, 'instant', () => ({ at: times.length - 1 }))
  const texts = times.map(readableDuration)
  const move = (event: Event): void => {
    state.at = (event.target as HTMLInputElement).valueAsNumber
    redraw()
  }
  return html`<section class="run">
    <p class="instant-slider">
      <label
        ><span>At <strong>${texts[state.at]}</strong></span>
        <input
          type="range"
          name="instant"
          min="0"
          max=${times.length - 1}
          .value=${String(state.at)}
          aria-label="instant"
          aria-valuetext=${texts[state.at]!}
          @input=${move}
      /></label>
    </p>
    ${shardsAt(part, state.at)} ${charts.map((chart) => chartPart(chart, times[state.at]!, redraw))}
    ${owners.map((each) => ownersMap({ owners: each, of: each, times: texts, shards, instant: state.at, redraw }))}
  </section>`
}

function shardsAt({ shards, bytes, chunks, orphans }: Instants, at: number): TemplateResult {
  const most = Math.max(1, ...bytes.map((row) => Math.max(...row.map((each) => each ?? 0))))
  const colours = manyColours(shards.length)
  const all = shards.map((name, i): Bar | null => {
    const value = bytes[at]![i]!
    if (value === null) return null
    const orphaned = orphans[at]![i] ?? 0
    const shown = [readableSize(value), counted(chunks[at]![i] ?? 0, 'chunk')]
    if (orphaned > 0) shown.push(counted(orphaned, 'orphan'))
    return { name, value, shown: shown.join(', '), colour: colours[i]! }
  })
  if (shards.length <= barsMax) {
    const absent = (name: string): Bar => ({ name, value: 0, shown: 'not in the cluster', colour: 'none' })
    return bars(
      all.map((bar, i) => bar ?? absent(shards[i]!)),
      most,
    )
  }
  return html`<p class="soft">
      Each cell is a shard, filled in proportion to its bytes. Point at a cell for its numbers; the table of shards has
      those at the end.
    </p>
    ${cells(all, most)}`
}
