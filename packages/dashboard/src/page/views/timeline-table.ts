/** Events as rows of a table. */
import { html, type TemplateResult } from 'lit-html'
import type { StreamedEvent } from '../../stream/deltas.js'
import { boundText, counted, timeText } from '../text.js'

interface TimelineRow<Event extends StreamedEvent> {
  readonly event: Event
  /** With those after it that say the same. */
  count: number
  lastAtMs: number
}

/** Rounds of the balancer that were skipped one after another for the same reason are one row. */
export function timelineRowsOf<Event extends StreamedEvent>(events: readonly Event[]): TimelineRow<Event>[] {
  const rows: TimelineRow<Event>[] = []
  let lastRound: TimelineRow<Event> | undefined
  for (const event of events) {
    if (event.type === 'balancer-round' && lastRound !== undefined && repeats(event, lastRound.event)) {
      // The state keeps the last of several rounds that changed nothing.
      lastRound.count = Math.max(lastRound.count + 1, event.round - roundOf(lastRound.event) + 1)
      lastRound.lastAtMs = event.atMs
      continue
    }
    const row = { event, count: 1, lastAtMs: event.atMs }
    rows.push(row)
    if (event.type === 'balancer-round') lastRound = row
  }
  return rows
}

const roundOf = (event: StreamedEvent): number => (event.type === 'balancer-round' ? event.round : 0)

const repeats = ({ skipped }: StreamedEvent & { readonly type: 'balancer-round' }, before: StreamedEvent): boolean =>
  skipped !== null && before.type === 'balancer-round' && before.skipped === skipped

/** Follows the text of a row. */
export const repeatText = (count: number, lastAtMs: number): string =>
  count === 1 ? '' : ` (${counted(count, 'round')}, the last at ${timeText(lastAtMs)})`

export const timelineRow = ({ event, count, lastAtMs }: TimelineRow<StreamedEvent>): TemplateResult =>
  html`<tr>
    <td>${timeText(event.atMs)}</td>
    <td>${event.type}</td>
    <td class="why">${sentenceOf(event)}${repeatText(count, lastAtMs)}</td>
  </tr>`

function sentenceOf(event: StreamedEvent): string {
  switch (event.type) {
    case 'member':
      return `${event.member} ${event.state}${event.error === undefined ? '' : `: ${event.error}`}`
    case 'migration':
      return `${event.ns} ${boundText(event.min)} to ${boundText(event.max)}: ${event.from} → ${event.to}, ${event.stage}`
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
        event.skipped ??
        `round ${event.round}: ${counted(event.migrations.length, 'migration')}, ${counted(event.splits.length, 'split')}`
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
