import type { CommandSpec } from './command-spec.js'

export const currentOpSpec = {
  name: 'currentOp',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/currentOp',
} as const satisfies CommandSpec
