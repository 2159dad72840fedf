import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const setDefaultRWConcernSpec = {
  name: 'setDefaultRWConcern',
  access: 'admin',
  privileges: onCluster('setDefaultRWConcern'),
  adminOnly: true,
  manual: 'reference/command/setDefaultRWConcern',
  behaviour: 'defaultConcernCommands',
  fields: { defaultReadConcern: 'object', defaultWriteConcern: 'object' },
} as const satisfies CommandSpec
