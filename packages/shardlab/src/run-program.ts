import { CommanderError } from 'commander'
import { exitCodes, reportError } from './exit-codes.js'
import { createProgram, type CommandRunners } from './program.js'

/** Runs the command that the arguments of the process name. Sets its exit code, or ends it. */
export async function runProgram(runners: CommandRunners): Promise<void> {
  // Unhandled rejections are reported here too.
  process.on('uncaughtException', (error) => process.exit(reportError(error)))
  // The cluster keeps running when the reader of its output has gone.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await createProgram(runners).parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.fine : exitCodes.usage
    // Sockets or workers of a failed command could keep the process alive.
    else process.exit(reportError(error))
  }
}

/** As {@link runProgram}, for a bundle that has some of the commands. */
export function runPart(runners: Partial<CommandRunners>): Promise<void> {
  const notHere = (): never => {
    throw new Error('this program does not have that command')
  }
  return runProgram(new Proxy(runners, { get: (part, name) => Reflect.get(part, name) ?? notHere }) as CommandRunners)
}
