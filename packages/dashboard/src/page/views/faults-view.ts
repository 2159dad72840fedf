/** Applies faults, heals them, and lists what has happened. */
import type { TimelineLane } from '@shardlab/report'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { LiveFault } from '../../stream/deltas.js'
import type { App, View } from '../app.js'
import { effectOfClick, fromForm, noFault, withTarget, type FaultText } from '../fault-text.js'
import { memo } from '../memo.js'
import { nowOf } from '../now.js'
import { counted, timeText } from '../text.js'
import { kindFilter } from '../components/kind-filter.js'
import { tableFrame } from '../components/table-frame.js'
import { timelineChart } from '../components/timeline-chart.js'
import { errorLaneOf, lanesOf } from './timeline-lanes.js'
import { timelineRow, timelineRowsOf } from './timeline-table.js'

const shownRowsMax = 200
const knownErrors = memo<TimelineLane | null>()

let written: FaultText = noFault
/** Kinds of events that are hidden. */
const hidden = new Set<string>(['log'])

export const faultsView: View = {
  name: 'faults',
  title: 'Faults',
  draw: (app) =>
    html`<h1>Faults</h1>
      ${applyForm(app)} ${active(app)} ${timeline(app)}`,
}

function applyForm(app: App): TemplateResult {
  const { members, shards } = app.state
  const targets = [...new Set([...members.keys(), ...shards.keys()])].sort()
  const names = new Set(targets)
  const change = (changed: FaultText): void => {
    written = changed
    app.redraw()
  }
  const { text, form, optionalParts } = written
  const effect = effectOfClick(written, names)
  const apply = (event: Event): void => {
    event.preventDefault()
    // The text may be newer than the page.
    const fault = written.text
    if (fault.trim() !== '') void app.run('apply', { fault }, `Applied: ${fault}.`)
  }
  return html`<section>
    <h2>Break something</h2>
    <form @submit=${apply}>
      <p>
        <label
          >Fault
          <select name="form" @change=${(event: Event) => change(fromForm((event.target as HTMLSelectElement).value))}>
            <option value="" .selected=${form === ''}>choose a form…</option>
            ${app.faultForms.map((each) => html`<option value=${each} .selected=${each === form}>${each}</option>`)}
          </select></label
        >
      </p>
      <p class="buttons" role="group" aria-label="Target">
        ${targets.map(
          (name) =>
            html`<button
              type="button"
              ?disabled=${effect === undefined}
              @click=${() => change(withTarget(written, name, names))}
            >
              ${name}
            </button>`,
        )}
        ${effect === undefined ? nothing : html`<span class="soft">${effect}</span>`}
      </p>
      <p>
        <label
          >As text
          <input
            name="fault"
            .value=${text}
            placeholder="crash shard02 for 5s"
            autocomplete="off"
            spellcheck="false"
            @input=${(event: Event) => change({ ...written, text: (event.target as HTMLInputElement).value })}
        /></label>
        <button type="submit" class="main">Apply</button>
      </p>
      ${
        optionalParts.length === 0
          ? nothing
          : html`<p class="soft">This form may also have: ${optionalParts.join('; ')}.</p>`
      }
      <p class="soft">
        Any of these can follow: for 5s, after 10s; of links and steps: first 10; of links: with probability 5%.
      </p>
    </form>
  </section>`
}

function active(app: App): TemplateResult {
  const { faults } = app.state
  return html`<section>
    <h2>Active faults</h2>
    ${
      faults.length === 0
        ? html`<p>None.</p>`
        : html`<ul class="faults">
              ${faults.map((fault) => faultItem(fault, app))}
            </ul>
            <p>
              <button type="button" @click=${() => void app.run('heal', {}, 'All faults are healed.')}>Heal all</button>
            </p>`
    }
  </section>`
}

function faultItem({ id, fault, state, members, beginsAtMs, healsAtMs }: LiveFault, app: App): TemplateResult {
  const heal = (): void => void app.run('heal', { id }, `Healed: ${fault}.`)
  const times = `${state === 'scheduled' ? 'begins' : 'since'} ${timeText(beginsAtMs)}`
  return html`<li data-fault=${id}>
    <strong>${fault}</strong>
    <span class="soft"
      >${state},
      ${times}${healsAtMs === null ? '' : `, heals itself ${timeText(healsAtMs)}`}${
        members.length === 0 ? '' : `, on ${members.join(', ')}`
      }</span
    >
    <button type="button" aria-label="Heal ${fault}" @click=${heal}>Heal</button>
  </li>`
}

function timeline(app: App): TemplateResult {
  const { events } = app.state
  const kinds = [...new Set(events.map(({ type }) => type))].sort()
  const unhidden = events.filter(({ type }) => !hidden.has(type))
  const rows = timelineRowsOf(unhidden)
  const shown = rows.slice(-shownRowsMax)
  const nowMs = nowOf(app.state)
  const { operations } = app.state
  const endMs = 1000 * Math.ceil(nowMs / 1000)
  const errors = knownErrors([operations.at(-1), endMs], () => errorLaneOf(operations, endMs))
  const lanes = [...lanesOf(events), ...(errors === null ? [] : [errors])]
  return html`<section>
    <h2>Timeline</h2>
    ${lanes.length === 0 ? nothing : chartOf(lanes, nowMs)}
    ${kindFilter({ kinds: kinds.map((name) => ({ name, title: name })), hidden, redraw: () => app.redraw() })}
    ${
      shown.length === 0
        ? html`<p>Nothing has happened since the page was opened.</p>`
        : tableFrame('Timeline', ['time (UTC)', 'event', 'what'], shown.toReversed().map(timelineRow), 'timeline')
    }
    ${restText(rows.length - shown.length, events.length - unhidden.length)}
  </section>`
}

function restText(older: number, filtered: number): TemplateResult | typeof nothing {
  const texts = [
    ...(older === 0 ? [] : [counted(older, 'older row')]),
    ...(filtered === 0 ? [] : [`${counted(filtered, 'event')} of kinds that are not chosen`]),
  ]
  return texts.length === 0 ? nothing : html`<p class="soft">Not shown: ${texts.join(', ')}.</p>`
}

/** A history of a moment would be as wide as the page. */
const leastSpanMs = 10_000

function chartOf(lanes: readonly TimelineLane[], nowMs: number): TemplateResult {
  const first = Math.min(...lanes.flatMap(({ items }) => items.map(({ fromMs }) => fromMs)))
  const fromMs = Math.min(first, nowMs - leastSpanMs)
  const summary = lanes.map(({ name, items }) =>
    name === 'errors'
      ? `${counted(items.length, 'second')} with errors`
      : counted(items.length, name === 'balancer' ? 'round' : name.replace(/s$/, '')),
  )
  const label = `Timeline from ${timeText(fromMs)} to ${timeText(nowMs)}: ${summary.join(', ')}. The table below has the events.`
  return timelineChart({ label, lanes, fromMs, toMs: nowMs, timeText })
}
