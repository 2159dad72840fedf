import type { CommandSpec } from './command-spec.js'

export const commitTransactionSpec = {
  name: 'commitTransaction',
  access: 'admin',
  privileges: 'user',
  adminOnly: true,
  apiVersion1: true,
  manual: 'reference/command/commitTransaction',
  fields: { recoveryToken: 'object' },
  memberFields: { recoveryToken: 'object', commitTimestamp: 'timestamp' },
} as const satisfies CommandSpec
