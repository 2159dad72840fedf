import type { Command } from 'commander'
import { describe } from './help-text.js'

export interface ExplainBalanceOptions {
  readonly uri: string
  readonly ns: string
  readonly json?: true
}

export function addExplainBalanceCommand(
  program: Command,
  run: (options: ExplainBalanceOptions) => Promise<void>,
): void {
  describe(
    program.command('explain-balance'),
    'Explain why a collection is balanced or not, and what to change.',
    `  shardlab explain-balance --uri mongodb://127.0.0.1:27017/ --ns shop.orders
  shardlab explain-balance --uri mongodb://127.0.0.1:27017/ --ns shop.orders --json`,
  )
    .requiredOption('--uri <uri>', 'connection string of a mongos of the cluster')
    .requiredOption('--ns <namespace>', 'the sharded collection, as database.collection')
    .option('--json', 'print the explanation as one JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes:
  0    it is balanced
  1    it is not
  2    wrong usage, no cluster at the URI, or no such sharded collection
  3    internal error`,
    )
    .action(run)
}
