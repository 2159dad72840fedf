import type { CommandSpec } from './command-spec.js'
import { onDatabase } from '../access/needs.js'

export const dropDatabaseSpec = {
  name: 'dropDatabase',
  access: 'write',
  privileges: onDatabase('dropDatabase'),
  apiVersion1: true,
  manual: 'reference/command/dropDatabase',
  fields: {},
} as const satisfies CommandSpec
