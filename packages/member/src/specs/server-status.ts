import type { CommandSpec } from './command-spec.js'

export const serverStatusSpec = {
  name: 'serverStatus',
  access: 'admin',
  manual: 'reference/command/serverStatus',
} as const satisfies CommandSpec
