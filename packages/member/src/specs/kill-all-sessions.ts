import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const killAllSessionsSpec = {
  name: 'killAllSessions',
  access: 'admin',
  privileges: onCluster('killAnySession'),
  manual: 'reference/command/killAllSessions',
} as const satisfies CommandSpec
