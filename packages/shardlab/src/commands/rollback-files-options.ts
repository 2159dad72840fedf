import type { Command } from 'commander'
import { describe } from './help-text.js'

export interface RollbackFilesOptions {
  readonly uri: string
  /** A folder. */
  readonly save?: string
  readonly json?: true
}

export function addRollbackFilesCommand(program: Command, run: (options: RollbackFilesOptions) => Promise<void>): void {
  describe(
    program.command('rollback-files'),
    'List and save the documents that rollbacks have removed.',
    `  shardlab rollback-files --uri mongodb://127.0.0.1:27017/
  shardlab rollback-files --uri mongodb://127.0.0.1:27017/ --save rolled-back
  bsondump rolled-back/rs0-1/rollback/*/removed.*.bson`,
  )
    .requiredOption('--uri <uri>', 'connection string of the cluster')
    .option('--save <folder>', 'save the files in this folder, one folder for each member')
    .option('--json', 'print the list as one JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Each member keeps its files until it loses its disk. Members that are down are left out.
mongorestore and bsondump read saved files.

Exit codes:
  0    done
  2    wrong usage, no cluster at the URI, or a folder that cannot be written
  3    internal error`,
    )
    .action(run)
}
