import { Argument, type Command } from 'commander'

export type WhichProgram = 'mongod' | 'mongos' | 'folder'

export function addWhichCommand(program: Command, run: (program: WhichProgram) => Promise<void>): void {
  program
    .command('which')
    .description('Print the path of the executable that stands in for mongod or mongos.')
    .addArgument(
      new Argument('[program]', 'mongod, mongos, or folder: the folder with both')
        .default('mongod')
        .choices(['mongod', 'mongos', 'folder']),
    )
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 printed; 2 wrong usage.

Examples:
  shardlab which mongod   the value of MONGOMS_SYSTEM_BINARY for mongodb-memory-server
  shardlab which folder   for harnesses that search a folder, or the PATH`,
    )
    .action(run)
}
