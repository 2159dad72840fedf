/** The picture of a timeline: a lane for each client and member, a bar for each command. */
import type { Timeline, TimelineItem } from '@shardlab/report'
import type { TimelineEntry } from '../swarm/types.js'

/** Of the last moments, which a failure is about. */
const entriesMax = 400

const tones: Readonly<
  Record<Exclude<TimelineEntry['kind'], 'answer' | 'violation' | 'command'>, TimelineItem['tone']>
> = { step: 'soft', catalog: 'fine', fault: 'warn', member: 'warn' }

const legend: Timeline['legend'] = [
  { tone: 'main', text: 'a command that names the documents of the violation' },
  { tone: 'soft', text: 'other commands, steps of members' },
  { tone: 'fine', text: 'the catalog' },
  { tone: 'warn', text: 'faults, members' },
  { tone: 'bad', text: 'the violation' },
]

/** @param entries at least one */
export function swarmLanes(entries: readonly TimelineEntry[]): Omit<Timeline, 'entries' | 'kinds' | 'ownTitle'> {
  const shown = entries.slice(-entriesMax)
  const fromMs = shown[0]!.atMs
  const toMs = Math.max(shown.at(-1)!.atMs, fromMs + 1)
  const answers = new Map(shown.filter(({ kind }) => kind === 'answer').map((entry) => [entry.operation, entry]))
  const items = new Map<string, TimelineItem[]>()
  const lines: { readonly atMs: number; readonly text: string }[] = []
  for (const entry of shown) {
    const { kind, atMs, text, operation, ofDocument } = entry
    if (kind === 'violation') lines.push({ atMs, text })
    if (kind === 'violation' || kind === 'answer') continue
    const name = laneOf(entry)
    const lane = items.get(name) ?? []
    items.set(name, lane)
    if (kind !== 'command') lane.push({ fromMs: atMs, toMs: atMs, text, tone: tones[kind] })
    else
      lane.push({
        ...{ fromMs: atMs, toMs: answers.get(operation)?.atMs ?? null, text },
        tone: ofDocument ? 'main' : 'soft',
      })
  }
  const drawn = new Set([...items.values()].flatMap((lane) => lane.map(({ tone }) => tone)))
  return {
    ...{ kind: 'timeline', label: 'Commands, steps and faults until the violation', fromMs, toMs, lines },
    legend: legend.filter(({ tone }) => drawn.has(tone) || (tone === 'bad' && lines.length > 0)),
    lanes: [...items].toSorted(([a], [b]) => byRole(a, b)).map(([name, own]) => ({ name, items: own })),
  }
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
