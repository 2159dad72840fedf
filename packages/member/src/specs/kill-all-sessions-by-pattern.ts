import type { CommandSpec } from './command-spec.js'

export const killAllSessionsByPatternSpec = {
  name: 'killAllSessionsByPattern',
  access: 'admin',
  manual: 'reference/command/killAllSessionsByPattern',
} as const satisfies CommandSpec
