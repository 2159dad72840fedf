import type { CommandSpec } from './command-spec.js'

export const planCacheListFiltersSpec = {
  name: 'planCacheListFilters',
  access: 'admin',
  manual: 'reference/command/planCacheListFilters',
} as const satisfies CommandSpec
