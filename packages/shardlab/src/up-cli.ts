/** `shardlab up` alone, for the bundle that starts fast: it has no other command. */
import type { CommandRunners } from './program.js'
import { runProgram } from './run-program.js'
import { untilSignal } from './signals.js'

export const runUp: CommandRunners['up'] = async (options) => {
  // Before the cluster's code is loaded, so that a signal during the load also stops it in order.
  const stopped = untilSignal(options.exitWithParent === true)
  const { up } = await import('./commands/up.js')
  await up(options, stopped)
}

const notHere = (): never => {
  throw new Error('only `shardlab up` runs in this program')
}

export function runUpProgram(): Promise<void> {
  return runProgram({
    up: runUp,
    host: notHere,
    load: notHere,
    simulate: notHere,
    swarm: notHere,
    worker: notHere,
    dashboard: notHere,
    events: notHere,
    explainBalance: notHere,
    unique: notHere,
    copy: notHere,
    fault: notHere,
    member: notHere,
    rollbackFiles: notHere,
    watch: notHere,
    doctor: notHere,
    which: notHere,
  })
}
