/** All commands. The code of each is loaded when it runs. */
import { runProgram } from './run-program.js'
import { runUp } from './up-cli.js'

await runProgram({
  up: runUp,
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
  dashboard: async (options) => {
    const { dashboard } = await import('./commands/dashboard.js')
    await dashboard(options)
  },
  events: async (options) => {
    const { events } = await import('./commands/events.js')
    await events(options)
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
  member: async (action, name, options) => {
    const { member } = await import('./commands/member.js')
    await member(action, name, options)
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
