/**
 * The commands that connect to a cluster, and `doctor`, for the bundle that starts fast. Each loads
 * its code when it runs.
 */
import { runPart } from './run-program.js'
import type { CommandRunners } from './program.js'

export const connectingCommands = {
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
  doctor: async (options) => {
    const { doctor } = await import('./commands/doctor.js')
    process.exitCode = await doctor(options)
  },
} satisfies Partial<CommandRunners>

export const runConnectingProgram = (): Promise<void> => runPart(connectingCommands)
