import type { Command } from 'commander'
import { collect, seed } from './argument-parsers.js'

export interface SimulateOptions {
  readonly list?: true
  readonly allowCode?: true
  /** true: standard output. */
  readonly json?: string | true
  readonly explain?: true
  readonly report?: string
  /** A directory. */
  readonly csv?: string
  readonly seed?: number
  readonly variant?: string[]
}

export function addSimulateCommand(
  program: Command,
  run: (scenario: string | undefined, options: SimulateOptions) => Promise<void>,
): void {
  program
    .command('simulate')
    .description(
      'Run a scenario in virtual time: the work of the balancer with a shard key, zones, growth and failures.',
    )
    .argument('[scenario]', 'path of a scenario file, or the name of a built-in scenario')
    .option('--list', 'list the built-in scenarios')
    .option('--variant <name>', 'run only this variant; may be repeated', collect)
    .option('--seed <n>', 'seed to use instead of the one in the file', seed)
    .option('--allow-code', 'run the module that the scenario names as its policy; it may do all that you may')
    .option('--explain', 'print each decision of the balancer with its reason')
    .option('--report <file>', 'write an HTML page with plots, a chunk map and the decisions')
    .option(
      '--csv <directory>',
      'write samples.csv, decisions.csv and results.csv into a directory, which is created if necessary',
    )
    .option('--json [file]', 'print the results as one JSON object, or write them to a file')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 all expectations are met; 1 one is not, or a step of the timeline failed; 2 wrong usage or file; 3 internal error;
130 interrupted (Ctrl-C): the results until then are reported, and expectations are not checked.

Examples:
  shardlab simulate hot-monotonic-key
  shardlab simulate my-growth.yaml --report growth.html --explain`,
    )
    .action(run)
}
