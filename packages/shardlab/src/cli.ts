/** All commands. The code of each is loaded when it runs. */
import { connectingCommands } from './connecting-cli.js'
import { runProgram } from './run-program.js'
import { runUp } from './up-cli.js'

await runProgram({
  up: runUp,
  ...connectingCommands,
  host: async (options) => {
    const { host } = await import('./commands/host.js')
    await host(options)
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
  worker: async (options) => {
    const { worker } = await import('./commands/worker.js')
    process.exitCode = await worker(options)
  },
  unique: async (action, options) => {
    const { unique } = await import('./commands/unique.js')
    process.exitCode = await unique(action, options)
  },
  watch: async (ns, options) => {
    const { watch } = await import('./commands/watch.js')
    await watch(ns, options)
  },
  which: async (name) => {
    const { which } = await import('./commands/which.js')
    which(name)
  },
})
