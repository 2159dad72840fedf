import { Argument, type Command } from 'commander'
import { describe } from './help-text.js'

export const memberActions = ['add', 'remove'] as const

export type MemberAction = (typeof memberActions)[number]

export interface MemberOptions {
  readonly uri: string
  readonly json?: true
}

export function addMemberCommand(
  program: Command,
  run: (action: MemberAction, name: string, options: MemberOptions) => Promise<void>,
): void {
  describe(
    program.command('member'),
    'Add a member to a replica set, or remove one that has left it.',
    `  shardlab member add rs0 --uri mongodb://127.0.0.1:27017/
  shardlab member add shard02 --uri mongodb://127.0.0.1:27017/ --json
  shardlab member remove rs0-4 --uri mongodb://127.0.0.1:27017/`,
  )
    .addArgument(new Argument('<action>', 'action to run').choices([...memberActions]))
    .argument('<name>', 'the set that gets a member, such as rs0, or the member to remove, such as rs0-4')
    .requiredOption('--uri <uri>', 'connection string of the cluster')
    .option('--json', 'print the reply as one JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Actions:
  add SET        start a member with an empty disk; then run rs.add(host) on the primary
  remove MEMBER  end a member and delete its disk; first run rs.remove(host) on the primary

A set cannot get more members if it was started with one member and without a list of members.

Exit codes:
  0    done
  2    wrong usage, no cluster at the URI, no such set or member, or a member that its set still has
  3    internal error`,
    )
    .action(run)
}
