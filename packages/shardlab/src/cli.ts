/** The code of each command is loaded when the command runs. */
import { CommanderError } from 'commander'
import { exitCodes, reportError } from './exit-codes.js'
import { createProgram } from './program.js'
import { untilSignal } from './signals.js'

// Unhandled rejections are reported here too.
process.on('uncaughtException', (error) => process.exit(reportError(error)))
// The cluster keeps running when the reader of its output has gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const program = createProgram({
  up: async (options) => {
    // Before the cluster's code is loaded, so that a signal during the load also stops it in order.
    const stopped = untilSignal(options.exitWithParent === true)
    const { up } = await import('./commands/up.js')
    await up(options, stopped)
  },
  load: async (options) => {
    const { load } = await import('./commands/load.js')
    process.exitCode = await load(options)
  },
  simulate: async (scenario, options) => {
    const { simulate } = await import('./commands/simulate.js')
    process.exitCode = await simulate(scenario, options)
  },
  swarm: async (options) => {
    const { swarm } = await import('./commands/swarm.js')
    process.exitCode = await swarm(options)
  },
  explainBalance: async (options) => {
    const { explainBalance } = await import('./commands/explain-balance.js')
    process.exitCode = await explainBalance(options)
  },
  unique: async (action, options) => {
    const { unique } = await import('./commands/unique.js')
    process.exitCode = await unique(action, options)
  },
  copy: async (action, id, options) => {
    const { copy } = await import('./commands/copy.js')
    await copy(action, id, options)
  },
  fault: async (text, options) => {
    const { fault } = await import('./commands/fault.js')
    await fault(text, options)
  },
  rollbackFiles: async (options) => {
    const { rollbackFiles } = await import('./commands/rollback-files.js')
    await rollbackFiles(options)
  },
  watch: async (ns, options) => {
    const { watch } = await import('./commands/watch.js')
    await watch(ns, options)
  },
  doctor: async (options) => {
    const { doctor } = await import('./commands/doctor.js')
    process.exitCode = await doctor(options)
  },
  which: async (name) => {
    const { which } = await import('./commands/which.js')
    which(name)
  },
})

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.fine : exitCodes.usage
  // Sockets or workers of a failed command could keep the process alive.
  else process.exit(reportError(error))
}
