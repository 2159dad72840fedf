import type { CommandSpec } from './command-spec.js'

export const removeQuerySettingsSpec = {
  name: 'removeQuerySettings',
  access: 'admin',
  adminOnly: true,
  behaviour: 'querySettings',
  manual: 'reference/command/removeQuerySettings',
  fields: {},
} as const satisfies CommandSpec
