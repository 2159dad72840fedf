/** What the page of a swarm shows: its failed runs. */
import { counted } from '@shardlab/quantities'
import { heading, list, paragraph, type ReportPage, type ReportPart, type Timeline } from '@shardlab/report'
import { planText, swarmText } from '../swarm/swarm-text.js'
import type { FailedRun, SwarmReport, TimelineEntry } from '../swarm/types.js'
import { swarmLanes } from './swarm-lanes.js'

const kinds: Readonly<Record<TimelineEntry['kind'], string>> = {
  command: 'commands',
  answer: 'answers',
  step: 'steps of members',
  fault: 'faults',
  member: 'members',
  catalog: 'catalog',
  violation: 'violations',
}

export function swarmPage(report: SwarmReport): ReportPage {
  const { runs, failed } = report
  const title = `Swarm: ${failed.length} of ${counted(runs, 'run')} failed`
  return {
    ...{ shardlabReport: 1, title, text: swarmText(report) },
    parts: [
      heading(1, title),
      ...(failed.length === 0 ? [paragraph('No run violated an invariant.')] : []),
      ...failed.flatMap(failureParts),
      paragraph('The same seed and options always give the same run.'),
    ],
  }
}

function failureParts({ seed, checker, violations, replay, plan, timeline }: FailedRun): ReportPart[] {
  return [
    heading(2, `Seed ${seed}: ${checker}`),
    list(
      violations.map((violation) => `${violation.checker}: ${violation.sentence}`),
      'bad',
    ),
    paragraph(planText(plan)),
    { kind: 'code', text: replay },
    ...timelineParts(timeline),
  ]
}

function timelineParts(entries: readonly TimelineEntry[]): Timeline[] {
  if (entries.length === 0) return []
  const hasOwn = entries.some(({ ofDocument }) => ofDocument)
  return [
    {
      ...swarmLanes(entries),
      entries: entries.map(({ atMs, kind, member, text, ofDocument }) => ({
        ...{ atMs, kind, member, text },
        relation: ofDocument ? 'own' : kind === 'command' || kind === 'answer' ? 'other' : null,
      })),
      kinds: Object.entries(kinds)
        .filter(([name]) => entries.some(({ kind }) => kind === name))
        .map(([name, title]) => ({ name, title })),
      ownTitle: hasOwn ? 'of commands only those that name the documents of the violation' : null,
    },
  ]
}
