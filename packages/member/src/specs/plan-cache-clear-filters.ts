import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const planCacheClearFiltersSpec = {
  name: 'planCacheClearFilters',
  access: 'admin',
  privileges: onNamespace('planCacheIndexFilter'),
  manual: 'reference/command/planCacheClearFilters',
} as const satisfies CommandSpec
