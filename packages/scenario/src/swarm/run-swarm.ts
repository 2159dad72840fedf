import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { allMutationNames } from '@shardlab/actor'
import { OptionError } from '@shardlab/cluster'
import { callerQueue, threadQueue, type JobQueue } from '@shardlab/jobs'
import { coverageOf, coverageRuns } from './coverage.js'
import { swarmJobs } from './job-kind.js'
import { Players } from './players.js'
import { checkReduction, limitNames, reductionText } from './reduction.js'
import { shrink, type Shrunk } from './shrink.js'
import { playSwarmTask } from './swarm-task.js'
import type { FailedRun, Reduction, SwarmOptions, SwarmProgress, SwarmReport, SwarmRun, SwarmTask } from './types.js'

const defaultRuns = 100
/** Longer timers of Node.js end at once. */
const timerMsMax = 2 ** 31 - 1
const defaultRunMsMax = 30 * 60_000
/** Further failures are not shrunk: shrinking one takes as long as a dozen runs. */
const shrunkMax = 3

/** @throws OptionError for an invalid option */
export async function runSwarm(
  options: SwarmOptions = {},
  onProgress: (progress: SwarmProgress) => void = () => {},
): Promise<SwarmReport> {
  check(options)
  const { seed = 1, minutes, runs = minutes === undefined ? defaultRuns : Infinity, mutation = null } = options
  const reduction = reductionOf(options)
  const queue = await queueOf(options, runs, JSON.stringify({ reduction, mutation }))
  const players = new Players(queue, options.runMsMax ?? defaultRunMsMax)
  const beganAt = performance.now()
  const spent = (): number => (minutes === undefined ? 0 : (performance.now() - beganAt) / (minutes * 60_000))
  const played: SwarmRun[] = []
  let next = seed
  let failures = 0
  const isOver = (): boolean =>
    spent() >= 1 || options.stop?.aborted === true || (options.untilFailure === true && failures > 0)
  const playAll = async (): Promise<void> => {
    while (next < seed + runs && !isOver()) {
      const task = { seed: next++, reduction, mutation, recorded: null }
      const run = await players.play(String(task.seed), task)
      if (run === null) continue
      played.push(run)
      // A run in this thread leaves no turn for signals.
      await setImmediate()
      const [violation] = run.violations
      if (violation !== undefined) failures++
      if (isOver()) await players.withdraw()
      const found = violation === undefined ? null : { seed: run.seed, violation }
      onProgress({
        runs: played.length,
        failed: failures,
        found,
        share: Math.min(1, Math.max(played.length / runs, spent())),
        shrinking: null,
      })
    }
  }
  try {
    await withdrawing(players, options, () => Promise.all(Array.from({ length: Math.min(runs, queue.depth) }, playAll)))
    played.sort((a, b) => a.seed - b.seed)
    return await reportOf(players, played, options, onProgress)
  } finally {
    await players.end()
  }
}

/** Withdraws waiting runs when the time is over or the swarm is stopped. */
async function withdrawing(
  players: Players,
  { minutes, stop }: SwarmOptions,
  play: () => Promise<unknown>,
): Promise<void> {
  const withdraw = (): void => void players.withdraw()
  const alarm = minutes === undefined ? undefined : setTimeout(withdraw, Math.min(timerMsMax, minutes * 60_000))
  stop?.addEventListener('abort', withdraw)
  try {
    await play()
  } finally {
    clearTimeout(alarm)
    stop?.removeEventListener('abort', withdraw)
  }
}

async function queueOf(
  { queue, threads }: SwarmOptions,
  runs: number,
  parameters: string,
): Promise<JobQueue<SwarmTask, SwarmRun>> {
  if (queue !== undefined) return queue(parameters)
  if (threads === 1) return callerQueue(playSwarmTask)
  return threadQueue(swarmJobs, Math.min(runs, threads ?? availableParallelism()))
}

/** With many runs, everything must also have been reached. */
export function isClean({ runs, failed, coverage }: SwarmReport): boolean {
  return failed.length === 0 && (runs < coverageRuns || coverage.missing.length === 0)
}

async function reportOf(
  players: Players,
  played: readonly SwarmRun[],
  options: SwarmOptions,
  onProgress: (progress: SwarmProgress) => void,
): Promise<SwarmReport> {
  const failures = played.filter(({ violations }) => violations.length > 0)
  const failed: FailedRun[] = []
  for (const run of failures)
    failed.push(
      await explain(
        players,
        run,
        options,
        failed.length < shrunkMax && options.stop?.aborted !== true,
        (attempt, attemptsMax) =>
          onProgress({
            runs: played.length,
            failed: failures.length,
            found: null,
            share: 1,
            shrinking: { seed: run.seed, attempt, attemptsMax },
          }),
      ),
    )
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

/** Shrinks a failed run, and repeats the smallest one with a timeline of its violation. */
async function explain(
  players: Players,
  failed: SwarmRun,
  options: SwarmOptions,
  isShrunk: boolean,
  onAttempt: (attempt: number, attemptsMax: number) => void,
): Promise<FailedRun> {
  const { seed } = failed
  const { mutation = null } = options
  let attempts = 0
  const repeat = async (name: string, task: Omit<SwarmTask, 'seed' | 'mutation'>): Promise<SwarmRun> =>
    // Only runs that are played for the first time are withdrawn.
    (await players.play(`${seed}-${name}`, { seed, mutation, ...task }))!
  const play = (reduction: Reduction): Promise<SwarmRun> => repeat(String(++attempts), { reduction, recorded: null })
  const first: Shrunk = { reduction: reductionOf(options), run: failed }
  const { reduction, run } =
    options.shrink === false || !isShrunk ? first : await shrink(play, first.reduction, failed, onAttempt)
  const { violations, plan } = run
  const recorded = violations[0]!
  const { timeline } = run.turns === Infinity ? run : await repeat('timeline', { reduction, recorded })
  const words = [`shardlab swarm --seed ${seed} --runs 1`, reductionText(reduction)]
  if (mutation !== null) words.push(`--mutation ${mutation}`)
  const replay = words.filter((word) => word !== '').join(' ')
  return { seed, checker: recorded.checker, replay, violations, timeline, plan }
}

function reductionOf(options: SwarmOptions): Reduction {
  const names = ['without', 'members', ...limitNames] as const
  const given = names.filter((name) => options[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, options[name]]))
}

function check({ runs, seed, minutes, mutation, threads, ...reduction }: SwarmOptions): void {
  const atLeastOne = { runs, threads }
  for (const [name, value] of Object.entries(atLeastOne))
    if (value !== undefined && (!Number.isInteger(value) || value < 1))
      throw new OptionError(`${name} must be an integer of at least 1.`)
  if (seed !== undefined && (!Number.isInteger(seed) || seed < 0))
    throw new OptionError('seed must be an integer of at least 0.')
  if (minutes !== undefined && !(minutes > 0)) throw new OptionError('minutes must be more than 0.')
  checkReduction(reduction)
  if (mutation !== undefined && mutation !== null && !allMutationNames.includes(mutation))
    throw new OptionError(`${mutation} is not a mutation; the mutations are ${allMutationNames.join(', ')}.`)
}
