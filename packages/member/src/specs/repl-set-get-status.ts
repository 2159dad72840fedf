import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const replSetGetStatusSpec = {
  name: 'replSetGetStatus',
  access: 'admin',
  privileges: onCluster('replSetGetStatus'),
  adminOnly: true,
  manual: 'reference/command/replSetGetStatus',
} as const satisfies CommandSpec
