import type { CommandSpec } from './command-spec.js'

export const getDefaultRWConcernSpec = {
  name: 'getDefaultRWConcern',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getDefaultRWConcern',
  behaviour: 'defaultConcernCommands',
  fields: { inMemory: 'bool' },
} as const satisfies CommandSpec
