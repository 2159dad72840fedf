import type { ClusterEvent, ReachedStep } from '@shardlab/cluster'
import type { Timeline } from './timeline.js'

export function noteStep(timeline: Timeline, member: string, step: string, detail: ReachedStep['detail']): void {
  const { ns = detail['db'], ...rest } = detail
  const facts = Object.entries(rest)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    .map(([name, value]) => `${name} ${String(value)}`)
  timeline.note('step', member, typeof ns === 'string' ? ns : null, [step, ...facts].join(', '))
}

export function noteEvent(timeline: Timeline, event: ClusterEvent): void {
  switch (event.type) {
    case 'fault-applied':
      return timeline.note('fault', '', null, event.fault)
    case 'fault-healed':
      return timeline.note('fault', '', null, `healed: ${event.fault}`)
    case 'member':
      return timeline.note(
        'member',
        event.member,
        null,
        event.error === undefined ? event.state : `${event.state}: ${event.error}`,
      )
    case 'member-state':
      return timeline.note('member', event.member, null, `${event.from} to ${event.to}`)
    case 'election': {
      const { member, outcome, term, reason, votes, votesNeeded } = event
      const counts = `${votes} votes, ${votesNeeded} needed`
      return timeline.note('member', member, null, `election ${outcome} in term ${term} (${reason}; ${counts})`)
    }
    case 'rollback':
      return timeline.note('member', event.member, null, `entries rolled back: ${event.entries}`)
    case 'rollback-failed':
      return timeline.note('member', event.member, null, `no entry in common with ${event.source}: no rollback`)
    case 'migration':
      return timeline.note(
        'catalog',
        event.from,
        event.ns,
        `migration of ${event.min} to ${event.max} to ${event.to}: ${event.stage}`,
      )
    case 'catalog':
      return timeline.note('catalog', '', event.ns, event.change)
    case 'split':
      return timeline.note('catalog', '', event.ns, `split at ${event.points.join(', ')}`)
    case 'merge':
      return timeline.note('catalog', '', event.ns, `merge of ${event.min} to ${event.max}`)
    default:
  }
}
