import type { CommandSpec } from './command-spec.js'

export const planCacheSetFilterSpec = {
  name: 'planCacheSetFilter',
  access: 'admin',
  manual: 'reference/command/planCacheSetFilter',
} as const satisfies CommandSpec
