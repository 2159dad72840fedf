/** Applies faults, heals them, and lists what has happened. */
import type { TimelineLane } from '@shardlab/report'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { LiveFault, StreamedEvent } from '../../stream/deltas.js'
import type { App, View } from '../app.js'
import { memo } from '../memo.js'
import { nowOf } from '../now.js'
import { counted, timeText, whole } from '../text.js'
import { kindFilter } from '../components/kind-filter.js'
import { tableFrame } from '../components/table-frame.js'
import { timelineChart } from '../components/timeline-chart.js'
import { errorLaneOf, lanesOf } from './timeline-lanes.js'

const shownEventsMax = 200
/** Names in the forms of faults that stand for the target. The cluster may have no such members. */
const placeholders: ReadonlySet<string> = new Set(['shard01', 'shard02', 'mongos01'])

const knownErrors = memo<TimelineLane | null>()

let text = ''
/** The name in the text that a click on a target replaces; null: the text has no name. */
let target: string | null = null
/** Of the chosen form. */
let optionalParts: readonly string[] = []
/** Kinds of events that are hidden. */
const hidden = new Set<string>(['log'])

export const faultsView: View = {
  name: 'faults',
  title: 'Faults',
  draw: (app) =>
    html`<h1>Faults</h1>
      ${form(app)} ${active(app)} ${timeline(app)}`,
}

function form(app: App): TemplateResult {
  const { members, shards } = app.state
  const targets = [...new Set([...members.keys(), ...shards.keys()])].filter((name) => name !== 'balancer').sort()
  const aim = (name: string): void => {
    aimAt(name)
    app.redraw()
  }
  const apply = (event: Event): void => {
    event.preventDefault()
    if (text.trim() !== '') void app.run('apply', { fault: text }, `Applied: ${text}.`)
  }
  return html`<section>
    <h2>Break something</h2>
    <form @submit=${apply}>
      <p>
        <label
          >Fault
          <select
            name="form"
            @change=${(event: Event) => {
              choose((event.target as HTMLSelectElement).value)
              app.redraw()
            }}
          >
            <option value="" ?selected=${text === ''}>choose a form…</option>
            ${app.faultForms.map((each) => html`<option value=${each}>${each}</option>`)}
          </select></label
        >
      </p>
      <p class="buttons" role="group" aria-label="Target">
        ${targets.map(
          (name) => html`<button type="button" ?disabled=${target === null} @click=${() => aim(name)}>${name}</button>`,
        )}
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
            @input=${(event: Event) => {
              write((event.target as HTMLInputElement).value)
              app.redraw()
            }}
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

/** A form shows its optional parts in brackets, which are no part of a fault. */
const optionalPart = / ?\[([^\]]*)\]/g

function choose(form: string): void {
  target = null
  optionalParts = [...form.matchAll(optionalPart)].map(([, part]) => part!)
  write(form.replace(optionalPart, ''))
}

function write(fault: string): void {
  text = fault
  const words = wordsIn(fault)
  if (target === null || !words.includes(target)) target = words.find((word) => placeholders.has(word)) ?? null
}

function aimAt(name: string): void {
  const words = wordsIn(text)
  text = words.with(words.indexOf(target!), name).join('')
  target = name
}

/** And what is between them. */
const wordsIn = (fault: string): string[] => fault.split(/([\w.-]+)/)

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
  const shown = events.filter(({ type }) => !hidden.has(type)).slice(-shownEventsMax)
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
        : tableFrame('Timeline', ['time (UTC)', 'event', 'what'], shown.toReversed().map(eventRow), 'timeline')
    }
    ${events.length > shown.length ? html`<p class="soft">${whole(events.length - shown.length)} more.</p>` : nothing}
  </section>`
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

const eventRow = (event: StreamedEvent): TemplateResult =>
  html`<tr>
    <td>${timeText(event.atMs)}</td>
    <td>${event.type}</td>
    <td class="why">${sentenceOf(event)}</td>
  </tr>`

function sentenceOf(event: StreamedEvent): string {
  switch (event.type) {
    case 'member':
      return `${event.member} ${event.state}${event.error === undefined ? '' : `: ${event.error}`}`
    case 'migration':
      return `${event.ns} ${event.min} to ${event.max}: ${event.from} → ${event.to}, ${event.stage}`
    case 'fault-applied':
    case 'fault-healed':
      return event.fault
    case 'fault-struck':
      return `${event.fault}: ${event.member} at ${event.step}`
    case 'member-state':
      return `${event.member}: ${event.from} → ${event.to}`
    case 'election':
      return `${event.member} ${event.outcome} term ${event.term} (${event.reason}), ${event.votes} of ${event.votesNeeded} votes`
    case 'step-down':
      return `${event.member} is no longer primary of term ${event.term} (${event.reason})`
    case 'balancer-round':
      return (
        event.skipped ?? `round ${event.round}: ${event.migrations.length} migrations, ${event.splits.length} splits`
      )
    case 'catalog':
      return `${event.ns}: ${event.change}`
    case 'log':
      return `${event.member}: ${event.message}`
    default: {
      const { type: _, atMs: __, ...fields } = event
      return Object.entries(fields)
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
    }
  }
}
