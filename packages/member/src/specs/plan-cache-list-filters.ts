import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const planCacheListFiltersSpec = {
  name: 'planCacheListFilters',
  access: 'admin',
  privileges: onNamespace('planCacheIndexFilter'),
  manual: 'reference/command/planCacheListFilters',
} as const satisfies CommandSpec
