import type { Command } from 'commander'
import { describe } from './help-text.js'

export interface EventsOptions {
  readonly uri: string
  readonly snapshot?: true
  readonly json?: true
}

export function addEventsCommand(program: Command, run: (options: EventsOptions) => Promise<void>): void {
  describe(
    program.command('events'),
    'Print what happens in a running cluster, event by event.\nThe dashboard shows the same live stream.',
    `  shardlab events --uri mongodb://127.0.0.1:27017/
  shardlab events --uri mongodb://127.0.0.1:27017/ --json
  shardlab events --uri mongodb://127.0.0.1:27017/ --json --snapshot`,
  )
    .requiredOption('--uri <uri>', 'connection string of a mongos of the cluster')
    .option('--snapshot', 'print the present state and end; needs --json')
    .option('--json', 'print every delta of the stream as one JSON object on a line')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Operations are no events: --json prints their rates and samples. Rounds of the balancer that
change nothing are left out without --json.

A delta is one change of the state. The page reference/live-stream.md describes all deltas.

Exit codes:
  0    ended by a signal or --snapshot
  2    wrong usage, or no cluster at the URI
  3    internal error`,
    )
    .action(run)
}
