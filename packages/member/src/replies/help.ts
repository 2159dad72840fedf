/** What a command answers that asks for help instead of work. Server: commands.cpp, generateHelpResponse; mongosh: db.commandHelp. */
import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'

/** `{ help }` where the argument of this name is true; null: the command is to be run. */
export function helpOf(
  { name, summary }: Pick<CommandRow<never>, 'name' | 'summary'>,
  args: CommandArguments,
): DocumentWriter | null {
  return args.value('help')?.isTruthy() === true
    ? new DocumentWriter(256).string('help', `help for: ${name} ${summary}`)
    : null
}
