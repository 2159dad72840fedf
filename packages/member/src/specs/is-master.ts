import type { CommandSpec } from './command-spec.js'

export const isMasterSpec = {
  name: 'isMaster',
  aliases: ['ismaster'],
  access: 'none',
  privileges: 'none',
  endsWithClient: true,
  manual: 'reference/command/isMaster',
} as const satisfies CommandSpec
