/** The command line: every command's work is in a file of its own, loaded when it is asked for. */
import { CommanderError } from 'commander'
import { exitCodes, reportError } from './exit-codes.js'
import { createProgram } from './program.js'
import { untilSignal } from './signals.js'

// A rejection that nobody handles comes here too.
process.on('uncaughtException', (error) => process.exit(reportError(error)))
// Whoever read the output may be gone; the cluster goes on without readers.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const program = createProgram({
  up: async (options) => {
    // Before the cluster's code is loaded, so that a signal meanwhile ends it in order.
    const stopped = untilSignal()
    const { up } = await import('./commands/up.js')
    await up(options, stopped)
  },
})

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.fine : exitCodes.usage
  // A failed command may have left sockets or workers behind that would keep the process.
  else process.exit(reportError(error))
}
