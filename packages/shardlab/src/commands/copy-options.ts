import { Argument, type Command } from 'commander'
import { wholeNumber } from './argument-parsers.js'
import { describe } from './help-text.js'

export const copyActions = ['snapshot', 'restore', 'fork', 'list', 'discard'] as const

export type CopyAction = (typeof copyActions)[number]

export interface CopyOptions {
  readonly uri: string
  readonly port?: number
  readonly host?: string
  readonly json?: true
}

export function addCopyCommand(
  program: Command,
  run: (action: CopyAction, id: string | undefined, options: CopyOptions) => Promise<void>,
): void {
  describe(
    program.command('copy'),
    'Copy a running cluster: take and restore snapshots, start forks.',
    `  shardlab copy snapshot --uri mongodb://127.0.0.1:27017/
  shardlab copy restore g3f9mq8f --uri mongodb://127.0.0.1:27017/
  shardlab copy fork --uri mongodb://127.0.0.1:27017/ --port 27117 --json`,
  )
    .addArgument(new Argument('<action>', 'action to run').choices([...copyActions]))
    .argument('[id]', 'the snapshot to restore or to fork, or the snapshot or fork to discard')
    .requiredOption('--uri <uri>', 'connection string of a mongos of the cluster')
    .option('--port <p>', 'of a fork: port of its first mongos (default: any free ports)', wholeNumber)
    .option('--host <h>', "of a fork: address to listen on (default: the cluster's)")
    .option('--json', 'print the reply as one JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Actions:
  snapshot      save the state of the cluster in memory
  restore ID    return to the state of a snapshot; clients stay connected
  fork [ID]     start a second cluster from a snapshot, or from the present state
  list          list the snapshots and forks that were made with this command
  discard ID    delete a snapshot, or stop a fork

The cluster must be in one thread: shardlab up --runtime inline. Snapshots and forks end with it.

Exit codes:
  0    done
  2    wrong usage, no cluster at the URI, no such snapshot, or a cluster that cannot be copied now
  3    internal error`,
    )
    .action(run)
}
