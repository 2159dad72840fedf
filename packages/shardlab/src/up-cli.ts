/** `shardlab up` alone, for the bundle that starts fast. */
import { runPart } from './run-program.js'
import type { CommandRunners } from './program.js'
import { untilSignal } from './signals.js'

export const runUp: CommandRunners['up'] = async (options) => {
  // Before the cluster's code is loaded, so that a signal during the load also stops it in order.
  const stopped = untilSignal(options.exitWithParent === true)
  const { up } = await import('./commands/up.js')
  await up(options, stopped)
}

export const runUpProgram = (): Promise<void> => runPart({ up: runUp })
