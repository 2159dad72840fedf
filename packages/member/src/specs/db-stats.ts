import type { CommandSpec } from './command-spec.js'
import { onDatabase } from '../access/needs.js'

export const dbStatsSpec = {
  name: 'dbStats',
  aliases: ['dbstats'],
  access: 'read',
  privileges: onDatabase('dbStats'),
  manual: 'reference/command/dbStats',
  fields: { scale: 'number', freeStorage: 'bool' },
} as const satisfies CommandSpec
