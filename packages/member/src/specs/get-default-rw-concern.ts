import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const getDefaultRWConcernSpec = {
  name: 'getDefaultRWConcern',
  access: 'admin',
  privileges: onCluster('getDefaultRWConcern'),
  adminOnly: true,
  manual: 'reference/command/getDefaultRWConcern',
  behaviour: 'defaultConcernCommands',
  fields: { inMemory: 'bool' },
} as const satisfies CommandSpec
