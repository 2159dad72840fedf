import { InvalidArgumentError, type Command } from 'commander'
import { seed } from './argument-parsers.js'
import { describe } from './help-text.js'
import { addJobFlags, type JobFlags } from './nats-flags.js'

export interface SwarmCommandOptions extends JobFlags {
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
  const command = describe(
    program.command('swarm'),
    'Look for defects of Shardlab with random clusters and faults.\nEach run simulates a cluster, its clients and faults in virtual time, and its seed repeats it.',
    `  shardlab swarm --runs 500
  shardlab swarm --minutes 30 --seed 1000
  shardlab swarm --runs 2000 --nats nats://build1:4222        on workers, see shardlab worker --help
  shardlab swarm --seed 38 --runs 1 --report seed38.html      replay one run, with a page about it`,
  )
  command
    .optionsGroup('Runs:')
    .option('--runs <n>', 'number of runs (default: 100; with --minutes no limit)', atLeastOne)
    .option('--minutes <n>', 'start no further run after this many minutes', positive)
    .option('--seed <n>', 'seed of the first run; each further run has the next one (default: 1)', seed)
    .optionsGroup('Simplify a run:')
    .option('--without <name...>', 'leave out these fault verbs and activities')
    .option('--clients <n>', 'maximum number of clients that write and read documents', atLeastOne)
    .option('--steps <n>', 'maximum number of operations of each of these clients', atLeastOne)
    .option('--shards <n>', 'maximum number of shards', atLeastOne)
    .option('--mongos <n>', 'maximum number of mongoses', atLeastOne)
    .option('--members <n>', 'members of each shard and of the config server', atLeastOne)
  addJobFlags(command, 'runs')
    .optionsGroup('Results:')
    .option('--report <file>', 'write a page about the failed runs: what happened until the failure')
    .option('--json [file]', 'print the results as one JSON object, or write them to a file')
    .optionsGroup('Test the checkers:')
    // docs/guides/swarm.md lists the names.
    .option('--mutation <name>', 'build a known defect into every member: the checkers must find it')
    .optionsGroup('Help:')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Ctrl-C stops after the runs in progress and prints the report.

More examples:
  shardlab swarm --seed 38 --runs 1 --without crash drop membership --clients 1

Exit codes:
  0    no run failed
  1    a run failed, or 500 runs or more did not cover a named step or a fault verb
  2    wrong usage
  3    internal error
  130  ended by Ctrl-C`,
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
