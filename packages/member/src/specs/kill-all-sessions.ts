import type { CommandSpec } from './command-spec.js'

export const killAllSessionsSpec = {
  name: 'killAllSessions',
  access: 'admin',
  manual: 'reference/command/killAllSessions',
} as const satisfies CommandSpec
