import type { CommandSpec } from './command-spec.js'

export const compactSpec = {
  name: 'compact',
  access: 'admin',
  manual: 'reference/command/compact',
} as const satisfies CommandSpec
