import { availableParallelism } from 'node:os'
import { mutationNames } from '@shardlab/actor'
import { faultVerbs, OptionError } from '@shardlab/cluster'
import { coverageOf, coverageRuns } from './coverage.js'
import { createPlayers, type Players } from './players.js'
import { shrink } from './shrink.js'
import type { SwarmTask } from './swarm-task.js'
import type { FailedRun, SwarmOptions, SwarmProgress, SwarmReport, SwarmRun } from './types.js'

const defaultRuns = 100
/** Further failures are not shrunk: shrinking one takes as long as a dozen runs. */
const shrunkMax = 3

/** @throws OptionError for an invalid option */
export async function runSwarm(
  options: SwarmOptions = {},
  onProgress: (progress: SwarmProgress) => void = () => {},
): Promise<SwarmReport> {
  check(options)
  const {
    seed = 1,
    minutes,
    runs = minutes === undefined ? defaultRuns : Infinity,
    without = [],
    mutation = null,
  } = options
  const threads = Math.min(runs, options.threads ?? availableParallelism())
  const players = createPlayers(threads)
  const beganAt = performance.now()
  const spent = (): number => (minutes === undefined ? 0 : (performance.now() - beganAt) / (minutes * 60_000))
  const played: SwarmRun[] = []
  let next = seed
  let failures = 0
  const shouldContinue = (): boolean =>
    next < seed + runs && spent() < 1 && !(options.untilFailure === true && failures > 0)
  const playAll = async (): Promise<void> => {
    while (shouldContinue()) {
      const run = await players.play({ seed: next++, without, mutation })
      played.push(run)
      const [violation] = run.violations
      if (violation !== undefined) failures++
      const found = violation === undefined ? null : { seed: run.seed, violation }
      onProgress({
        runs: played.length,
        failed: failures,
        found,
        share: Math.min(1, Math.max(played.length / runs, spent())),
      })
    }
  }
  try {
    await Promise.all(Array.from({ length: threads }, playAll))
    played.sort((a, b) => a.seed - b.seed)
    return await reportOf(players, played, options)
  } finally {
    await players.end()
  }
}

/** With many runs, everything must also have been reached. */
export function isClean({ runs, failed, coverage }: SwarmReport): boolean {
  return failed.length === 0 && (runs < coverageRuns || coverage.missing.length === 0)
}

async function reportOf(players: Players, played: readonly SwarmRun[], options: SwarmOptions): Promise<SwarmReport> {
  const failed: FailedRun[] = []
  for (const run of played.filter(({ violations }) => violations.length > 0)) {
    const task: SwarmTask = { seed: run.seed, without: options.without ?? [], mutation: options.mutation ?? null }
    const smallest =
      options.shrink === false || failed.length >= shrunkMax ? { task, run } : await shrink(players, task, run)
    failed.push(failedRun(smallest.task, smallest.run))
  }
  const sum = (of: (run: SwarmRun) => number): number => played.reduce((total, run) => total + of(run), 0)
  return {
    runs: played.length,
    failed,
    traceHashes: Object.fromEntries(played.map((run) => [run.seed, run.traceHash])),
    coverage: coverageOf(played),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    unknown: sum(({ unknown }) => unknown),
    virtualMs: sum(({ virtualMs }) => virtualMs),
  }
}

function failedRun({ seed, without, mutation }: SwarmTask, { violations, journal, plan }: SwarmRun): FailedRun {
  const words = ['shardlab swarm', `--seed ${seed}`, '--runs 1']
  if (without.length > 0) words.push(`--without ${without.join(' ')}`)
  if (mutation !== null) words.push(`--mutation ${mutation}`)
  return { seed, checker: violations[0]!.checker, replay: words.join(' '), violations, journal, plan }
}

function check({ runs, seed, minutes, without = [], mutation, threads }: SwarmOptions): void {
  const atLeastOne = { runs, threads }
  for (const [name, value] of Object.entries(atLeastOne))
    if (value !== undefined && (!Number.isInteger(value) || value < 1))
      throw new OptionError(`${name} must be an integer of at least 1.`)
  if (seed !== undefined && (!Number.isInteger(seed) || seed < 0))
    throw new OptionError('seed must be an integer of at least 0.')
  if (minutes !== undefined && !(minutes > 0)) throw new OptionError('minutes must be more than 0.')
  for (const verb of without)
    if (!faultVerbs.includes(verb))
      throw new OptionError(`${verb} is not a fault verb; the verbs are ${faultVerbs.join(', ')}.`)
  if (mutation !== undefined && mutation !== null && !mutationNames.includes(mutation))
    throw new OptionError(`${mutation} is not a mutation; the mutations are ${mutationNames.join(', ')}.`)
}
