import type { CommandSpec } from './command-spec.js'

export const dropDatabaseSpec = {
  name: 'dropDatabase',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/dropDatabase',
  fields: {},
} as const satisfies CommandSpec
