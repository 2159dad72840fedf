import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const planCacheSetFilterSpec = {
  name: 'planCacheSetFilter',
  access: 'admin',
  privileges: onNamespace('planCacheIndexFilter'),
  manual: 'reference/command/planCacheSetFilter',
} as const satisfies CommandSpec
