import type { CommandSpec } from './command-spec.js'

export const collStatsSpec = {
  name: 'collStats',
  aliases: ['collstats'],
  access: 'read',
  manual: 'reference/command/collStats',
  fields: {
    scale: 'any',
    verbose: 'any',
    validationLevel: 'string',
    waitForLock: 'any',
    numericOnly: 'any',
  },
} as const satisfies CommandSpec
