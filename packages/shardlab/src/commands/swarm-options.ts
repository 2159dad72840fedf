import { InvalidArgumentError, type Command } from 'commander'
import { seed } from './argument-parsers.js'

/** Options of `swarm` as commander parses them. */
export interface SwarmCommandOptions {
  readonly runs?: number
  readonly seed?: number
  readonly minutes?: number
  readonly without?: string[]
  readonly mutation?: string
  /** A path; true: standard output. */
  readonly json?: string | true
}

/** Adds `swarm` to the program; `run` gets its options. */
export function addSwarmCommand(program: Command, run: (options: SwarmCommandOptions) => Promise<void>): void {
  program
    .command('swarm')
    .description(
      'Look for defects of shardlab itself: random clusters, workloads and faults in virtual time, from one seed each.',
    )
    .option('--runs <n>', 'how many runs (default: 100, with --minutes no limit)', atLeastOne)
    .option('--seed <n>', 'seed of the first run; the others have the next ones (default: 1)', seed)
    .option('--minutes <n>', 'begin no further run after that many minutes', positive)
    .option('--without <verb...>', 'leave out these verbs of faults')
    .option('--json [file]', 'print the results as one JSON object, or write them to a file')
    // For those who work on the checkers: docs/guides/swarm.md.
    .option('--mutation <name>', 'build a defect into every member, which has to be found then')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 no run failed; 1 one did, or 500 runs and more left a named step or a verb of faults out; 2 wrong usage; 3 an error of shardlab's own.

Examples:
  shardlab swarm --runs 500
  shardlab swarm --minutes 30 --seed 1000
  shardlab swarm --seed 38 --runs 1 --without crash drop`,
    )
    .action(run)
}

function atLeastOne(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError('It must be a whole number of at least 1.')
  return Number(text)
}

function positive(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('It must be a number above 0.')
  return value
}
