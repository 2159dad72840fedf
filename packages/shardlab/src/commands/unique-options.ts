import { Argument, Option, type Command } from 'commander'
import { collect } from './argument-parsers.js'

export const uniqueActions = ['init', 'backfill', 'verify', 'repair', 'sweep'] as const

export type UniqueAction = (typeof uniqueActions)[number]

/** Options of `unique` as commander parses them. */
export interface UniqueCommandOptions {
  readonly uri: string
  readonly ns: string
  /** Each is a field, or fields with commas between them. */
  readonly field: readonly string[]
  readonly proxies: 'sharded' | 'unsharded'
  readonly proxy?: string
  readonly missing: 'reserve' | 'skip'
  readonly json?: true
}

/** Adds `unique` to the program; `run` gets what to do, and its options. */
export function addUniqueCommand(
  program: Command,
  run: (action: UniqueAction, options: UniqueCommandOptions) => Promise<void>,
): void {
  program
    .command('unique')
    .description('Keep fields of a collection unique by proxy collections: on any MongoDB deployment.')
    .addArgument(new Argument('<action>', 'what to do').choices([...uniqueActions]))
    .requiredOption('--uri <uri>', 'connection string of the deployment')
    .requiredOption('--ns <namespace>', 'the collection, database.collection')
    .requiredOption(
      '--field <fields>',
      'a unique field, or fields with commas between them; may be given several times',
      collect,
    )
    .addOption(
      new Option('--proxies <layout>', 'one sharded proxy collection for each, or one for all')
        .choices(['sharded', 'unsharded'])
        .default('sharded'),
    )
    .option('--proxy <name>', 'name of the proxy collection, where there is one')
    .addOption(
      new Option('--missing <how>', 'reserve a missing field as null, or skip it')
        .choices(['reserve', 'skip'])
        .default('reserve'),
    )
    .option('--json', 'print the report as one JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
  init      make the proxy collections, or check those that are there
  backfill  reserve the values of the documents that are there
  verify    compare documents and reservations
  repair    mend what can be mended, and list the rest
  sweep     decide reservations whose time has run out

Fields with a normal form or a collation need the library itself: both are code of the application.

Exit codes: 0 all is well; 1 duplicates, or something that does not agree; 2 wrong usage, no deployment there, or a proxy collection that
is not as it has to be.

Examples:
  shardlab unique init --uri mongodb://127.0.0.1:27017/ --ns records.information --field email
  shardlab unique verify --uri mongodb://127.0.0.1:27017/ --ns records.information --field email --field tenant,handle --json`,
    )
    .action(run)
}
