import type { Command } from 'commander'
import { Option } from 'commander'
import { count } from './argument-parsers.js'
import { describe } from './help-text.js'

export interface WatchCommandOptions {
  readonly uri: string
  readonly fullDocument?: string
  readonly expanded?: true
  readonly resumeAfter?: string
  readonly count?: number
  readonly json?: true
}

export function addWatchCommand(
  program: Command,
  run: (ns: string | undefined, options: WatchCommandOptions) => Promise<void>,
): void {
  describe(
    program.command('watch'),
    'Print the events of a change stream, one line each.',
    `  shardlab watch app.orders --uri mongodb://127.0.0.1:27017/
  shardlab watch --uri mongodb://127.0.0.1:27017/ --expanded --json
  shardlab watch app --uri mongodb://127.0.0.1:27017/ --full-document updateLookup --count 10`,
  )
    .argument('[ns]', 'a database, or database.collection (default: the whole cluster)')
    .requiredOption('--uri <uri>', 'connection string')
    .addOption(
      new Option('--full-document <mode>', 'documents in the events of updates').choices([
        'updateLookup',
        'whenAvailable',
        'required',
      ]),
    )
    .option('--expanded', 'also print changes of definitions, such as shardCollection')
    .option('--resume-after <token>', 'begin after the event with this _data of its _id')
    .option('--count <n>', 'end after this number of events', count)
    .option('--json', 'print each event as extended JSON')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Ends with Ctrl-C, or when the stream is invalidated because its collection was dropped or renamed.

Exit codes:
  0    ended
  2    wrong usage, no server at the URI, or a stream that the server refuses
  3    internal error`,
    )
    .action(run)
}
