/** Events as bars and marks in lanes, for the timeline. */
import type { OperationsEvent } from '@shardlab/actor'
import type { TimelineItem, TimelineLane } from '@shardlab/report'
import type { StreamedEvent } from '../../stream/deltas.js'
import { operationsKeptMs } from '../../stream/live-state.js'
import { ratesOf } from '../operation-sums.js'
import { rateText } from '../text.js'

interface OpenItem extends TimelineItem {
  toMs: number | null
  tone: TimelineItem['tone']
  text: string
}

/** Faults, members, elections, migrations and rounds of the balancer, each in a lane. */
export function lanesOf(events: readonly StreamedEvent[]): TimelineLane[] {
  const lanes = { faults: [], members: [], elections: [], migrations: [], balancer: [] } as Record<LaneName, OpenItem[]>
  const open = new Map<string, OpenItem>()
  const begin = (lane: LaneName, id: string, item: OpenItem): void => {
    lanes[lane].push(item)
    open.set(id, item)
  }
  const end = (id: string, atMs: number): OpenItem | undefined => {
    const item = open.get(id)
    open.delete(id)
    if (item !== undefined) item.toMs = atMs
    return item
  }
  const instant = (lane: LaneName, atMs: number, text: string, tone: TimelineItem['tone']): void => {
    lanes[lane].push({ fromMs: atMs, toMs: atMs, text, tone })
  }
  for (const event of events) {
    const { atMs } = event
    switch (event.type) {
      case 'fault-applied':
        begin('faults', event.id, { fromMs: atMs, toMs: null, text: event.fault, tone: 'warn' })
        break
      case 'fault-healed':
        end(event.id, atMs)
        break
      case 'member': {
        const { member, state } = event
        if (state === 'started') end(member, atMs)
        else begin('members', member, { fromMs: atMs, toMs: null, text: `${member} ${state}`, tone: 'bad' })
        break
      }
      case 'election':
        instant('elections', atMs, `${event.member} ${event.outcome}`, event.outcome === 'won' ? 'fine' : 'warn')
        break
      case 'step-down':
        instant('elections', atMs, `${event.member} stepped down`, 'warn')
        break
      case 'migration': {
        const { id, stage, from, to } = event
        if (stage === 'committed' || stage === 'aborted') {
          const ended = end(id, atMs)
          if (ended !== undefined) ended.tone = stage === 'committed' ? 'fine' : 'bad'
        } else if (!open.has(id))
          begin('migrations', id, { fromMs: atMs, toMs: null, text: `${event.ns}: ${from} → ${to}`, tone: 'fine' })
        break
      }
      case 'balancer-round': {
        const failed = event.migrations.some(({ error }) => error !== null)
        if (event.migrations.length + event.splits.length > 0)
          instant('balancer', atMs, `round ${event.round}`, failed ? 'warn' : 'fine')
        break
      }
      default:
    }
  }
  return Object.entries(lanes).flatMap(([name, items]) => (items.length === 0 ? [] : [{ name, items }]))
}

const errorSeconds = operationsKeptMs / 1000

/**
 * Failed operations, a bar for each second.
 * @param endMs the end of a second
 * @returns null: there are none
 */
export function errorLaneOf(operations: readonly OperationsEvent[], endMs: number): TimelineLane | null {
  const { failed } = ratesOf(operations, endMs, errorSeconds)
  const most = Math.max(...failed)
  const items = failed.flatMap((rate, i): TimelineItem[] => {
    const fromMs = endMs - (errorSeconds - i) * 1000
    const text = `${rateText(rate)} failed operations a second`
    return rate === 0 ? [] : [{ fromMs, toMs: fromMs + 1000, text, tone: 'bad', share: rate / most }]
  })
  return items.length === 0 ? null : { name: 'errors', items }
}

type LaneName = 'faults' | 'members' | 'elections' | 'migrations' | 'balancer'
