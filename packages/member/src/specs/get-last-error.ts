import type { CommandSpec } from './command-spec.js'

export const getLastErrorSpec = {
  name: 'getLastError',
  aliases: ['getlasterror'],
  access: 'none',
  behaviour: 'lastErrors',
  manual: 'reference/command/getLastError',
  fields: { w: 'any', j: 'any', fsync: 'any', wtimeout: 'any', wOpTime: 'any', wElectionId: 'any' },
} as const satisfies CommandSpec
