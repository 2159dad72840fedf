import type { CommandSpec } from './command-spec.js'

export const abortTransactionSpec = {
  name: 'abortTransaction',
  access: 'admin',
  privileges: 'user',
  adminOnly: true,
  apiVersion1: true,
  manual: 'reference/command/abortTransaction',
  fields: { recoveryToken: 'object' },
} as const satisfies CommandSpec
