/** The zone ranges of a collection as texts: their names may not fit the map. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { LiveCollection } from '../../stream/deltas.js'
import type { App } from '../app.js'
import { lazyDetails } from '../components/local-state.js'
import { tableFrame } from '../components/table-frame.js'
import { boundText, whole } from '../text.js'

const rowsMax = 200

export function zoneTable({ ns, zones }: LiveCollection, app: App): TemplateResult | typeof nothing {
  if (zones.length === 0) return nothing
  const redraw = (): void => app.redraw()
  return lazyDetails({ of: app, name: `zones of ${ns}`, summary: 'Zone ranges as a table', redraw }, () => {
    const shardsOf = (zone: string): string =>
      [...app.state.shards.values()].flatMap((shard) => (shard.zones.includes(zone) ? [shard.id] : [])).join(', ')
    const rows = zones.slice(0, rowsMax).map(
      ({ zone, min, max }) =>
        html`<tr>
          <td>${zone}</td>
          <td>${boundText(min)}</td>
          <td>${boundText(max)}</td>
          <td>${shardsOf(zone)}</td>
        </tr>`,
    )
    const rest = zones.length - rows.length
    return html`${tableFrame('Zone ranges', ['zone', 'from', 'to', 'shards'], rows, 'zone-table')}
    ${rest > 0 ? html`<p class="soft">${whole(rest)} more.</p>` : nothing}`
  })
}
