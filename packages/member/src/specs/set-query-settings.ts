import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const setQuerySettingsSpec = {
  name: 'setQuerySettings',
  access: 'admin',
  privileges: onCluster('querySettings'),
  adminOnly: true,
  behaviour: 'querySettings',
  manual: 'reference/command/setQuerySettings',
  fields: { settings: 'object!' },
} as const satisfies CommandSpec
