import type { CommandSpec } from './command-spec.js'

export const dbStatsSpec = {
  name: 'dbStats',
  aliases: ['dbstats'],
  access: 'read',
  manual: 'reference/command/dbStats',
  fields: { scale: 'number', freeStorage: 'bool' },
} as const satisfies CommandSpec
