import { counted } from '@shardlab/quantities'
import { coverageRuns } from './coverage.js'
import { timelineText } from './timeline/timeline-text.js'
import type { Coverage, FailedRun, SwarmPlan, SwarmReport } from './types.js'

const hourMs = 3_600_000

/** The last line is the command that repeats the run. */
export function failureText({ seed, violations, timeline, replay, plan }: FailedRun): string {
  return [
    `Seed ${seed} failed (${planText(plan)})`,
    ...violations.map(({ checker, sentence }) => `  ${checker}: ${sentence}`),
    `  ${violations[0]?.ns ?? 'The cluster'} until the failure, in virtual time:`,
    ...timelineText(timeline).map((line) => `    ${line}`),
    `  Replay: ${replay}`,
    '',
  ].join('\n')
}

export function planText({ emulate, shards, members, mongos, ...rest }: SwarmPlan): string {
  const { workers, stepsOfWorker, faults, activities } = rest
  const ofMembers = members === 1 ? '' : ` of ${members} members`
  const counts = [`${counted(shards, 'shard')}${ofMembers}`, `${mongos} mongos`, counted(workers, 'client')]
  return `${emulate}, ${counts.join(', ')} with ${counted(stepsOfWorker, 'operation')} each; activities: ${activities.join(', ') || 'none'}; faults: ${faults.join(', ') || 'none'}`
}

export function swarmText({ runs, failed, acknowledged, unknown, virtualMs, coverage }: SwarmReport): string {
  const lines = failed.map((failure) => failureText(failure))
  lines.push(
    `${counted(runs, 'run')}, ${failed.length} failed: ${counted(acknowledged, 'write')} acknowledged, ${unknown} of unknown outcome, ${(virtualMs / hourMs).toFixed(1)} hours of virtual time`,
    coverageText(coverage, runs),
  )
  return `${lines.join('\n')}\n`
}

function coverageText({ steps, verbs, missing, least }: Coverage, runs: number): string {
  const reached = (counts: Coverage['steps']) => {
    const all = Object.values(counts)
    return `${all.filter((count) => count >= least).length} of ${all.length}`
  }
  const often = least === 1 ? '' : ` at least ${counted(least, 'time')}`
  const rest = missing.length === 0 ? '' : `; not reached: ${missing.join(', ')}`
  const hint = least === 1 && missing.length > 0 ? ` (with at least ${coverageRuns} runs this would be a failure)` : ''
  return `${reached(steps)} named steps and ${reached(verbs)} fault verbs were reached${often} in ${counted(runs, 'run')}${rest}${hint}`
}
