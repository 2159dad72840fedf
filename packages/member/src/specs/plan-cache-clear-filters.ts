import type { CommandSpec } from './command-spec.js'

export const planCacheClearFiltersSpec = {
  name: 'planCacheClearFilters',
  access: 'admin',
  manual: 'reference/command/planCacheClearFilters',
} as const satisfies CommandSpec
