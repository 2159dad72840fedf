import type { CommandSpec } from './command-spec.js'

export const getShardVersionSpec = {
  name: 'getShardVersion',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getShardVersion',
} as const satisfies CommandSpec
