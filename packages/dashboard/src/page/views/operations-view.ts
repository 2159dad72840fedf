/** How many operations go where, the slowest of them, and why they went there. */
import type { OperationShape, RoutedOperation } from '@shardlab/actor'
import { html, nothing, type TemplateResult } from 'lit-html'
import { routingReason } from '../../stream/routing-reason.js'
import type { App, View } from '../app.js'
import { memo } from '../memo.js'
import { nowOf } from '../now.js'
import { meanMs, samplesOf, shapesSince } from '../operation-sums.js'
import { boundText, counted, shapeText, timeText, whole } from '../text.js'
import { ratesChart } from './rates-chart.js'
import { noneSinceOpened, tableOrText } from '../components/table-frame.js'

const shapesSinceMs = 60_000
const shownShapesMax = 20
const shownOperationsMax = 50
/** As many as a router reports. */
const shownBoundsMax = 20

const knownShapes = memo<readonly OperationShape[]>()
const knownSamples = memo<readonly RoutedOperation[]>()
let shownShapes: readonly OperationShape[] = []
let shownSamples: readonly RoutedOperation[] = []

/** The panel may be above the visible part of the page. */
let isNew = false
/** The operation whose routing the page explains. */
let chosen: { readonly operation: RoutedOperation; readonly clusterId: string } | null = null

export const operationsView: View = {
  name: 'operations',
  title: 'Operations',
  draw: (app) =>
    html`<h1>Operations</h1>
      ${app.state.cluster?.topology === 'sharded' ? parts(app) : html`<p>Without routers, nothing is routed.</p>`}`,
  drawn() {
    if (isNew) document.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' })
    isNew = false
  },
}

const parts = (app: App): TemplateResult =>
  html`<section>
      <h2>Rates</h2>
      ${ratesChart(app)}
    </section>
    <section aria-live="polite" class="chosen">${why(app)}</section>
    ${slowest(app)} ${recent(app)}`

function slowest(app: App): TemplateResult {
  const { operations } = app.state
  const endMs = 1000 * Math.ceil(nowOf(app.state) / 1000)
  const shapes = heldRows('table.shapes', shownShapes, () =>
    knownShapes([operations.at(-1), endMs], () => shapesSince(operations, endMs - shapesSinceMs)),
  )
  shownShapes = shapes
  const rows = shapes.slice(0, shownShapesMax).map((each) => shapeRow(each, app))
  return html`<section>
    <h2>Slowest shapes of the last minute</h2>
    ${tableOrText(
      'No operations.',
      'Slowest shapes',
      ['operation', 'shape', 'kind', 'operations', 'mean ms', 'slowest ms', 'failed', 'reason'],
      rows,
      'shapes',
    )}
  </section>`
}

function shapeRow(each: OperationShape, app: App): TemplateResult {
  const { ns, command, shape, kind, operations, failed, slowest: one } = each
  return html`<tr>
    <td>${command} ${ns === '' ? 'others' : ns}</td>
    <td class="why"><code>${shapeText(shape)}</code></td>
    <td>${kindText(kind)}</td>
    <td>${whole(operations)}</td>
    <td>${meanMs(each).toFixed(1)}</td>
    <td>${whole(one.durationMs)}</td>
    <td class=${failed > 0 ? 'bad' : ''}>${whole(failed)}</td>
    <td>${whyButton(one, app)}</td>
  </tr>`
}

function recent(app: App): TemplateResult {
  const { operations } = app.state
  const samples = heldRows('table.operations', shownSamples, () =>
    knownSamples([operations.at(-1)], () => samplesOf(operations, shownOperationsMax)),
  )
  shownSamples = samples
  const rows = samples.map((each) => operationRow(each, app))
  return html`<section>
    <h2>Recent operations</h2>
    ${tableOrText(
      noneSinceOpened,
      'Recent operations',
      ['ended (UTC)', 'operation', 'kind', 'shards', 'ms', 'result', 'reason'],
      rows,
      'operations',
    )}
    <p class="soft">
      Up to ten operations of each router in each half second, chosen at random, with the time at which they ended. Both
      tables do not change while you point at them or move through them with the keyboard.
    </p>
  </section>`
}

function operationRow(each: RoutedOperation, app: App): TemplateResult {
  const { atMs, ns, command, kind, shards, durationMs, error } = each
  return html`<tr>
    <td>${timeText(atMs)}</td>
    <td>${command} ${ns}</td>
    <td>${kindText(kind)}</td>
    <td class="why">${shards.join(', ')}</td>
    <td>${whole(durationMs)}</td>
    <td class=${error === null ? '' : 'bad'}>${error === null ? 'ok' : `✕ ${error}`}</td>
    <td>${whyButton(each, app)}</td>
  </tr>`
}

/**
 * The shown rows while the pointer or the focus of the keyboard is in the table, so that no row
 * moves before a click.
 */
function heldRows<Rows>(table: string, shown: Rows, next: () => Rows): Rows {
  return document.querySelector(`${table}:is(:hover, :has(:focus-visible))`) === null ? next() : shown
}

const kindText = (kind: RoutedOperation['kind']): string =>
  kind === null ? 'unknown' : kind === 'multi' ? 'multi-shard' : kind

function whyButton(operation: RoutedOperation, app: App): TemplateResult {
  const choose = (): void => {
    chosen = { operation, clusterId: app.state.cluster!.id }
    isNew = true
    app.redraw()
  }
  const { command, ns, opId } = operation
  return html`<button type="button" aria-label="Why ${command} on ${ns}, operation ${opId}" @click=${choose}>
    Why
  </button>`
}

function why({ state }: App): TemplateResult | typeof nothing {
  // It was an operation of another cluster, which ran before this one.
  if (chosen === null || chosen.clusterId !== state.cluster?.id) return nothing
  const { operation } = chosen
  const { command, ns, kind, shards, bounds, mongos, opId, connectionId, durationMs, staleReplies, error } = operation
  return html`<h2>Why did it go there?</h2>
    <p>
      <strong>${command} on ${ns}</strong> ${
        kind === null
          ? html`failed; its shards are unknown.`
          : html`asked ${counted(shards.length, 'shard')} (${shards.join(', ')}),
            ${routingReason({ ...operation, kind })}.`
      }
    </p>
    <ul>
      ${operation.shape === '' ? nothing : html`<li>Shape: <code>${shapeText(operation.shape)}</code></li>`}
      ${bounds.length < shownBoundsMax / 2 ? nothing : html`<li>At most ${shownBoundsMax} bounds, at even distances:</li>`}
      ${bounds.map(([low, high]) => html`<li>Bounds: <code>${low === high ? boundText(low) : `${boundText(low)} to ${boundText(high)}`}</code></li>`)}
      ${
        staleReplies === 0
          ? nothing
          : html`<li>
              ${staleReplies === 1 ? '1 reply' : `${staleReplies} replies`} reported stale routing: the router read the
              placement again and repeated the operation.
            </li>`
      }
      <li>
        It took ${whole(durationMs)} ms${error === null ? '' : html` and failed: <span class="bad">${error}</span>`}.
      </li>
      <li>Operation ${opId} of ${mongos}, from connection ${connectionId}.</li>
    </ul>`
}
