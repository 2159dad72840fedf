import type { CommandSpec } from './command-spec.js'

export const setDefaultRWConcernSpec = {
  name: 'setDefaultRWConcern',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/setDefaultRWConcern',
  behaviour: 'defaultConcernCommands',
  fields: { defaultReadConcern: 'object', defaultWriteConcern: 'object' },
} as const satisfies CommandSpec
