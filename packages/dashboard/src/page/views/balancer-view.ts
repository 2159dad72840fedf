/** State of the balancer, its last decisions with their reasons, and why a collection is uneven. */
import { withReadableSizes } from '@shardlab/quantities'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { StreamedEvent } from '../../stream/deltas.js'
import type { App, View } from '../app.js'
import { boundText, noCollection, timeText, unreadCatalog } from '../text.js'
import { noneSinceOpened, tableOrText } from '../components/table-frame.js'
import { repeatText, timelineRowsOf } from './timeline-table.js'

type Round = Extract<StreamedEvent, { type: 'balancer-round' }>

const balancerAddress = 'balancer'
const shownRoundsMax = 50

/** As `cluster.balancer.explain` returns it, as far as the page shows it. */
interface Explanation {
  readonly balanced: boolean
  readonly answer: string
  readonly policy: string
  readonly resting: string | null
  readonly notes: readonly string[]
  readonly candidates: readonly {
    readonly from: string
    readonly to: string
    readonly min: string
    readonly max: string
    readonly because: string
  }[]
}

const explanations = new Map<string, Explanation>()

export const balancerView: View = {
  name: 'balancer',
  title: 'Balancer',
  draw: (app) =>
    html`<h1>Balancer</h1>
      ${status(app)} ${questions(app)} ${decisions(app)}`,
}

function status(app: App): TemplateResult {
  const { balancer, cluster } = app.state
  if (cluster?.topology !== 'sharded') return html`<p>This topology has no balancer.</p>`
  if (balancer === null) return html`<p>${unreadCatalog}</p>`
  const { mode, activeWindow } = balancer
  const window =
    activeWindow === null ? 'at any time' : `from ${clock(activeWindow.start)} to ${clock(activeWindow.stop)}`
  const isOn = mode === 'full'
  const toggle = (): void =>
    void app.run(isOn ? 'balancerStop' : 'balancerStart', {}, `The balancer is ${isOn ? 'off' : 'on'}.`)
  const down = stateIfDown(app)
  return html`<section>
    <p>
      ${
        down === null
          ? html`<strong class=${isOn ? 'fine' : 'warn'}>${isOn ? '● on' : `▲ ${mode}`}</strong>, rounds ${window}.`
          : html`<strong class="bad">✕ ${down}</strong>: no rounds until the member balancer runs. Its settings:
              ${isOn ? 'on' : mode}, rounds ${window}.`
      }
      ${lastRound(app)}
    </p>
    <p class="buttons">
      <button type="button" @click=${toggle}>${isOn ? 'Stop it' : 'Start it'}</button>
      <button type="button" class="main" ?disabled=${down !== null} @click=${() => void runRound(app)}>
        Run a round
      </button>
    </p>
  </section>`
}

/** Such as `crashed`. Null: it runs. */
function stateIfDown({ state: { members } }: App): string | null {
  const state = members.get(balancerAddress)?.state ?? 'running'
  return state === 'running' ? null : state
}

const clock = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

const roundsOf = ({ state }: App): Round[] => state.events.filter((event) => event.type === 'balancer-round')

function lastRound(app: App): string {
  const last = roundsOf(app).findLast(({ skipped }) => skipped === null)
  return last === undefined ? '' : `The last round ended at ${timeText(last.atMs)}.`
}

async function runRound(app: App): Promise<void> {
  await app.run('runRound', {}, 'A round has ended.')
}

function questions(app: App): TemplateResult {
  const names = [...app.state.collections.values()].filter(({ unsplittable }) => !unsplittable).map(({ ns }) => ns)
  const isDown = stateIfDown(app) !== null
  return html`<section>
    <h2>Why is it not balanced?</h2>
    ${names.length === 0 ? html`<p>${noCollection(app.state)}</p>` : nothing}
    <ul class="questions">
      ${names.toSorted().map(
        (ns) =>
          html`<li>
            <button type="button" ?disabled=${isDown} aria-label="Explain ${ns}" @click=${() => void explain(ns, app)}>
              Explain
            </button>
            <strong>${ns}</strong> ${answerOf(explanations.get(ns))}
          </li>`,
      )}
    </ul>
  </section>`
}

async function explain(ns: string, app: App): Promise<void> {
  const reply = await app.run('explainBalance', { ns }, `${ns} is explained below.`)
  if (reply === null) return
  explanations.set(ns, (reply as { readonly explanation: Explanation }).explanation)
  app.redraw()
}

function answerOf(explanation: Explanation | undefined): TemplateResult | typeof nothing {
  if (explanation === undefined) return nothing
  const { balanced, answer, policy, resting, notes, candidates } = explanation
  return html`<p>
      <strong>${balanced ? '✓ balanced' : '✕ not balanced'}</strong> (by ${policy}). ${withReadableSizes(answer)}
    </p>
    <ul>
      ${resting === null ? nothing : html`<li>No rounds now: ${resting}.</li>`}
      ${candidates.map(
        ({ from, to, min, max, because }) =>
          html`<li>
            Next: ${boundText(min)} to ${boundText(max)} from ${from} to
            ${to}${answer.includes(because) ? '' : `: ${withReadableSizes(because)}`}
          </li>`,
      )}
      ${notes.filter((note) => !answer.includes(note)).map((note) => html`<li>${withReadableSizes(note)}</li>`)}
    </ul>`
}

function decisions(app: App): TemplateResult {
  const rows = timelineRowsOf(roundsOf(app))
    .slice(-shownRoundsMax)
    .toReversed()
    .flatMap(({ event: round, count, lastAtMs }) => [
      ...round.splits.map((split) =>
        row(round, split.ns, `split ${boundText(split.min)} on ${split.shard}`, 'zone', split.error),
      ),
      ...round.migrations.map(({ ns, from, to, min, reason, because, error, outcome }) =>
        row(
          round,
          ns,
          `${boundText(min)}: ${from} → ${to}`,
          `${reason}: ${because}`,
          error ?? (outcome === 'moved' ? null : outcome),
        ),
      ),
      ...round.blocked.map(({ ns, heaviest, because }) => row(round, ns, `nothing leaves ${heaviest}`, because, null)),
      ...(round.skipped === null ? [] : [row(round, '', `skipped${repeatText(count, lastAtMs)}`, round.skipped, null)]),
    ])
  return html`<section>
    <h2>Last decisions</h2>
    ${tableOrText(
      noneSinceOpened,
      'Decisions of the balancer',
      ['time (UTC)', 'collection', 'decision', 'because'],
      rows,
      'decisions',
    )}
  </section>`
}

function row({ atMs }: Round, ns: string, what: string, because: string, failure: string | null): TemplateResult {
  return html`<tr>
    <td>${timeText(atMs)}</td>
    <td>${ns}</td>
    <td>${what}${failure === null ? nothing : html` <span class="bad">✕ ${failure}</span>`}</td>
    <td class="why">${withReadableSizes(because)}</td>
  </tr>`
}
