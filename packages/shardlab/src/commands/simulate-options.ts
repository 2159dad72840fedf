import type { Command } from 'commander'
import { collect, seed } from './argument-parsers.js'

/** Options of `simulate` as commander parses them. */
export interface SimulateOptions {
  readonly list?: true
  /** A path; true: standard output. */
  readonly json?: string | true
  readonly explain?: true
  readonly report?: string
  /** A directory. */
  readonly csv?: string
  readonly seed?: number
  readonly variant?: string[]
}

/** Adds `simulate` to the program; `run` gets its options. */
export function addSimulateCommand(
  program: Command,
  run: (scenario: string | undefined, options: SimulateOptions) => Promise<void>,
): void {
  program
    .command('simulate')
    .description('Play a scenario in virtual time: what the balancer does with a key, zones, growth and failures.')
    .argument('[scenario]', 'path of a scenario file, or the name of one that comes with shardlab')
    .option('--list', 'list the scenarios that come with shardlab')
    .option('--variant <name>', 'only this variant; may be repeated', collect)
    .option('--seed <n>', 'instead of the seed in the file', seed)
    .option('--explain', 'print each decision with its reason')
    .option('--report <file>', 'write a page with plots, a chunk map and the decisions')
    .option(
      '--csv <directory>',
      'write samples.csv, decisions.csv and results.csv into a directory, which is made if need be',
    )
    .option('--json [file]', 'print the results as one JSON object, or write them to a file')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 all expectations are met; 1 one is not, or a step of the timeline failed; 2 wrong usage or file; 3 an error of shardlab's own;
130 interrupted (Ctrl-C): what was known by then is reported, and expectations are not looked at.

Examples:
  shardlab simulate hot-monotonic-key
  shardlab simulate my-growth.yaml --report growth.html --explain`,
    )
    .action(run)
}
