import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const serverStatusSpec = {
  name: 'serverStatus',
  access: 'admin',
  privileges: onCluster('serverStatus'),
  manual: 'reference/command/serverStatus',
} as const satisfies CommandSpec
