import { InvalidArgumentError, type Command } from 'commander'
import { seed } from './argument-parsers.js'

export interface SwarmCommandOptions {
  readonly runs?: number
  readonly seed?: number
  readonly minutes?: number
  readonly without?: string[]
  readonly clients?: number
  readonly steps?: number
  readonly shards?: number
  readonly mongos?: number
  readonly members?: number
  readonly mutation?: string
  /** true: standard output. */
  readonly json?: string | true
  /** A file for the page. */
  readonly report?: string
}

export function addSwarmCommand(program: Command, run: (options: SwarmCommandOptions) => Promise<void>): void {
  program
    .command('swarm')
    .description(
      'Look for defects of Shardlab itself: random clusters, workloads and faults in virtual time, each run from one seed.',
    )
    .option('--runs <n>', 'number of runs (default: 100, with --minutes no limit)', atLeastOne)
    .option('--seed <n>', 'seed of the first run; the following runs have the next seeds (default: 1)', seed)
    .option('--minutes <n>', 'start no further run after that many minutes', positive)
    .option('--without <name...>', 'leave out these fault verbs and activities')
    .option('--clients <n>', 'at most so many clients that write and read documents', atLeastOne)
    .option('--steps <n>', 'at most so many operations of each of these clients', atLeastOne)
    .option('--shards <n>', 'at most so many shards', atLeastOne)
    .option('--mongos <n>', 'at most so many mongoses', atLeastOne)
    .option('--members <n>', 'that many members of each shard and of the config server', atLeastOne)
    .option('--report <file>', 'write a page about the failed runs: what happened until the failure')
    .option('--json [file]', 'print the results as one JSON object, or write them to a file')
    // For work on the checkers: docs/guides/swarm.md.
    .option('--mutation <name>', 'build a defect into every member, for the checkers to find')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Ctrl-C stops after the runs in progress and prints the report.

Exit codes: 0 no run failed; 1 a run failed, or 500 runs or more did not cover a named step or a fault verb; 2 wrong usage;
3 internal error; 130 stopped by Ctrl-C.

Examples:
  shardlab swarm --runs 500
  shardlab swarm --minutes 30 --seed 1000
  shardlab swarm --seed 38 --runs 1 --without crash drop membership --clients 1 --report seed38.html`,
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
