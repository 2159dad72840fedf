import { Argument, type Command } from 'commander'
import { describe } from './help-text.js'

export type WhichProgram = 'mongod' | 'mongos' | 'folder'

export function addWhichCommand(program: Command, run: (program: WhichProgram) => Promise<void>): void {
  describe(
    program.command('which'),
    'Print the path of the stand-in for mongod or mongos.',
    `  shardlab which mongod   the value of MONGOMS_SYSTEM_BINARY for mongodb-memory-server
  shardlab which folder   for harnesses that search a folder, or the PATH`,
  )
    .addArgument(
      new Argument('[program]', 'folder: the folder with both')
        .default('mongod')
        .choices(['mongod', 'mongos', 'folder']),
    )
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes:
  0    printed
  2    wrong usage`,
    )
    .action(run)
}
