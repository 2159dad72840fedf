import type { Command } from 'commander'
import { collect, seed } from './argument-parsers.js'
import { describe } from './help-text.js'
import { addJobFlags, type JobFlags } from './nats-flags.js'

export interface SimulateOptions extends JobFlags {
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
  /** `seed=1..20` */
  readonly sweep?: string
}

export function addSimulateCommand(
  program: Command,
  run: (scenario: string | undefined, options: SimulateOptions) => Promise<void>,
): void {
  const command = describe(
    program.command('simulate'),
    'Simulate balancing: shard keys, zones, growth and failures.\nHours of virtual time pass in seconds.',
    `  shardlab simulate --list                                    the built-in scenarios
  shardlab simulate hot-monotonic-key --report growth.html    one of them, with plots
  shardlab simulate my-growth.yaml --explain                  your own scenario
  shardlab simulate my-growth.yaml --sweep seed=1..20         how much of the result is chance
  shardlab simulate my-growth.yaml --sweep seed=1..500 --nats nats://build1:4222`,
  )
  command
    .argument('[scenario]', 'path of a scenario file, or the name of a built-in scenario')
    .optionsGroup('Scenario:')
    .option('--list', 'list the built-in scenarios')
    .option('--variant <name>', 'run only this variant of the scenario; may be repeated', collect)
    .option('--seed <n>', 'seed to use instead of the one in the file', seed)
    .option('--allow-code', 'run the JavaScript module of a custom policy, with all your permissions')
    .option('--sweep <seeds>', 'run each variant with each of these seeds, as seed=1..20 or seed=1,5,9')
  addJobFlags(command, 'variants')
    .optionsGroup('Results:')
    .option('--explain', 'print each decision of the balancer with its reason')
    .option('--report <file>', 'write an HTML page with plots, a chunk map and the decisions')
    .option('--csv <directory>', 'write samples.csv, decisions.csv and results.csv to a directory')
    .option('--json [file]', 'print the results as one JSON object, or write them to a file')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes:
  0    all expectations are met
  1    one is not, or a step of the timeline failed
  2    wrong usage or file
  3    internal error
  130  ended by Ctrl-C: the report has the results until then, without expectations`,
    )
    .action(run)
}
