/** The command line: parses arguments; every command's work is in a file of its own, loaded when it is asked for. */
import { Command, CommanderError } from 'commander'
import { addUpCommand } from './commands/up-options.js'
import { exitCodes, reportError } from './exit-codes.js'

const program = new Command('shardlab')
  .description('A MongoDB sharded cluster in one Node process: offline, started in milliseconds, for any driver.')
  .version('0.1.0', '-V, --version')
  .showHelpAfterError('(run with --help for the options)')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'shardlab: ')) })

addUpCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.fine : exitCodes.usage
  else process.exitCode = reportError(error)
}
