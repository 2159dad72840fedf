/** A picture of a timeline: a lane for each client and member, a bar for each command. */
import { escape } from '@shardlab/load'
import type { TimelineEntry } from '../types.js'

const width = 900
const labelWidth = 140
const laneHeight = 18
const axisHeight = 24
/** Of the last moments, which a failure is about. */
const entriesMax = 400

export function lanes(timeline: readonly TimelineEntry[]): string {
  const shown = timeline.slice(-entriesMax)
  const first = shown[0]
  if (first === undefined) return ''
  const names = [...new Set(shown.map(laneOf))].sort(byRole)
  const [fromMs, untilMs] = [first.atMs, Math.max(shown.at(-1)!.atMs, first.atMs + 1)]
  const height = names.length * laneHeight + axisHeight
  const x = (atMs: number): number => labelWidth + ((width - labelWidth - 10) * (atMs - fromMs)) / (untilMs - fromMs)
  const y = (entry: TimelineEntry): number => names.indexOf(laneOf(entry)) * laneHeight
  const answers = new Map(shown.filter(({ kind }) => kind === 'answer').map((entry) => [entry.operation, entry]))
  const labels = names.map(
    (name, i) =>
      `<text x="0" y="${i * laneHeight + 13}">${escape(name)}</text><line x1="${labelWidth}" x2="${width}" y1="${(i + 1) * laneHeight}" y2="${(i + 1) * laneHeight}"/>`,
  )
  const marks = shown.map((entry) => {
    const title = `<title>${escape(`${entry.atMs.toFixed(1)} ms, ${entry.member}: ${entry.text}`)}</title>`
    const own = entry.ofDocument ? ' own' : ''
    switch (entry.kind) {
      case 'answer':
        return ''
      case 'command': {
        const until = answers.get(entry.operation)?.atMs ?? untilMs
        return `<rect class="command${own}" x="${x(entry.atMs).toFixed(1)}" width="${Math.max(1.5, x(until) - x(entry.atMs)).toFixed(1)}" y="${y(entry) + 4}" height="${laneHeight - 8}">${title}</rect>`
      }
      case 'violation':
        return `<line class="violation" x1="${x(entry.atMs).toFixed(1)}" x2="${x(entry.atMs).toFixed(1)}" y1="0" y2="${height - axisHeight}">${title}</line>`
      default:
        return `<circle class="${entry.kind}" cx="${x(entry.atMs).toFixed(1)}" cy="${y(entry) + laneHeight / 2}" r="3.5">${title}</circle>`
    }
  })
  const axis = `<text x="${labelWidth}" y="${height - 6}">${fromMs.toFixed(0)} ms</text><text x="${width}" y="${height - 6}" text-anchor="end">${untilMs.toFixed(0)} ms</text>`
  return `<figure><svg class="lanes" viewBox="0 0 ${width} ${height}" role="img" aria-label="Commands, steps and faults until the violation">${labels.join('')}${marks.join('')}${axis}</svg></figure>`
}

function laneOf({ kind, member }: TimelineEntry): string {
  return member === '' ? (kind === 'fault' ? 'faults' : 'cluster') : member
}

/** Clients, then routers, config server, shards, and the whole cluster last. */
function byRole(a: string, b: string): number {
  return roleOf(a) - roleOf(b) || a.localeCompare(b, 'en', { numeric: true })
}

function roleOf(name: string): number {
  if (name === 'cluster' || name === 'faults') return 4
  if (/^shard\d/.test(name)) return 3
  if (name === 'config' || name === 'balancer') return 2
  return /^mongos\d/.test(name) ? 1 : 0
}
