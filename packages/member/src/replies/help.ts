/**
 * For commands with `help: true`. Server: commands.cpp, generateHelpResponse; mongosh:
 * db.commandHelp.
 */
import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'

/** null: the client does not ask for help */
export function helpOf(
  { name, summary }: Pick<CommandRow<never>, 'name' | 'summary'>,
  args: CommandArguments,
): DocumentWriter | null {
  return args.value('help')?.isTruthy() === true
    ? new DocumentWriter(256).string('help', `help for: ${name} ${summary}`)
    : null
}
