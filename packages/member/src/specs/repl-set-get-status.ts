import type { CommandSpec } from './command-spec.js'

export const replSetGetStatusSpec = {
  name: 'replSetGetStatus',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/replSetGetStatus',
} as const satisfies CommandSpec
