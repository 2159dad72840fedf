import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const collStatsSpec = {
  name: 'collStats',
  aliases: ['collstats'],
  access: 'read',
  privileges: onNamespace('collStats'),
  manual: 'reference/command/collStats',
  fields: {
    scale: 'any',
    verbose: 'any',
    validationLevel: 'string',
    waitForLock: 'any',
    numericOnly: 'any',
  },
} as const satisfies CommandSpec
