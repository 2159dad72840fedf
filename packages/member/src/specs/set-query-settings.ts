import type { CommandSpec } from './command-spec.js'

export const setQuerySettingsSpec = {
  name: 'setQuerySettings',
  access: 'admin',
  adminOnly: true,
  behaviour: 'querySettings',
  manual: 'reference/command/setQuerySettings',
  fields: { settings: 'object!' },
} as const satisfies CommandSpec
