import type { CommandSpec } from './command-spec.js'
import { onNamedNamespace } from '../access/needs.js'

export const getShardVersionSpec = {
  name: 'getShardVersion',
  access: 'admin',
  privileges: onNamedNamespace('getShardVersion'),
  adminOnly: true,
  manual: 'reference/command/getShardVersion',
} as const satisfies CommandSpec
