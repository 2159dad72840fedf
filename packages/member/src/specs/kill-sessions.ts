import type { CommandSpec } from './command-spec.js'

export const killSessionsSpec = {
  name: 'killSessions',
  access: 'admin',
  privileges: 'user',
  manual: 'reference/command/killSessions',
} as const satisfies CommandSpec
