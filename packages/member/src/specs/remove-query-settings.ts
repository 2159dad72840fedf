import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const removeQuerySettingsSpec = {
  name: 'removeQuerySettings',
  access: 'admin',
  privileges: onCluster('querySettings'),
  adminOnly: true,
  behaviour: 'querySettings',
  manual: 'reference/command/removeQuerySettings',
  fields: {},
} as const satisfies CommandSpec
