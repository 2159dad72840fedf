import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const killAllSessionsByPatternSpec = {
  name: 'killAllSessionsByPattern',
  access: 'admin',
  privileges: onCluster('killAnySession'),
  manual: 'reference/command/killAllSessionsByPattern',
} as const satisfies CommandSpec
