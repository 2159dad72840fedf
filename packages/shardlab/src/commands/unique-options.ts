import { Argument, Option, type Command } from 'commander'
import { collect } from './argument-parsers.js'
import { describe } from './help-text.js'

export const uniqueActions = ['init', 'backfill', 'verify', 'repair', 'sweep'] as const

export type UniqueAction = (typeof uniqueActions)[number]

export interface UniqueCommandOptions {
  readonly uri: string
  readonly ns: string
  /** Each is a field, or a combination of fields separated by commas. */
  readonly field: readonly string[]
  readonly proxies: 'sharded' | 'unsharded'
  readonly proxy?: string
  readonly missing: 'reserve' | 'skip'
  readonly json?: true
}

export function addUniqueCommand(
  program: Command,
  run: (action: UniqueAction, options: UniqueCommandOptions) => Promise<void>,
): void {
  describe(
    program.command('unique'),
    'Keep fields of a collection unique with proxy collections.',
    `  shardlab unique init --uri mongodb://127.0.0.1:27017/ --ns records.information --field email
  shardlab unique verify --uri mongodb://127.0.0.1:27017/ --ns records.information --field tenant,handle`,
  )
    .addArgument(new Argument('<action>', 'action to run').choices([...uniqueActions]))
    .requiredOption('--uri <uri>', 'connection string of the deployment')
    .requiredOption('--ns <namespace>', 'the collection, as database.collection')
    .requiredOption(
      '--field <fields>',
      'a unique field, or a combination of fields separated by commas; repeatable',
      collect,
    )
    .addOption(
      new Option('--proxies <layout>', 'a proxy collection for each field, sharded, or one for all, unsharded')
        .choices(['sharded', 'unsharded'])
        .default('sharded'),
    )
    .option('--proxy <name>', 'name of the proxy collection if there is only one')
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
Actions:
  init      create the proxy collections, or check existing ones
  backfill  reserve the values of existing documents
  verify    compare documents and reservations
  repair    repair inconsistencies, and list those that need a decision
  sweep     confirm or release expired reservations

Fields with normalize or a collation need the library itself, because both are part of the
application.

Exit codes:
  0    no findings
  1    duplicates or inconsistencies
  2    wrong usage, no connection, or a misconfigured proxy collection`,
    )
    .action(run)
}
