import type { Command } from 'commander'
import { portNumber } from './argument-parsers.js'
import { describe } from './help-text.js'

export interface DashboardOptions {
  readonly uri: string
  readonly port: number
}

export function addDashboardCommand(program: Command, run: (options: DashboardOptions) => Promise<void>): void {
  describe(
    program.command('dashboard'),
    'Serve a web page about a running cluster on this machine.',
    `  shardlab dashboard --uri mongodb://127.0.0.1:27017/
  shardlab dashboard --uri mongodb://127.0.0.1:27017/ --port 8080`,
  )
    .requiredOption('--uri <uri>', 'connection string of a mongos of the cluster')
    .option('--port <p>', 'port of the page; 0: any free port', portNumber, 0)
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
When all routers are down, the page continues through other members: with access control through
the config server, which has the users. The page of shardlab up --dashboard needs no router either.

If the cluster has access control, pages log in, unless the URI has a user.

Exit codes:
  0    ended by a signal
  2    wrong usage, a port in use, or no cluster at the URI
  3    internal error`,
    )
    .action(run)
}
