import type { CommandSpec } from './command-spec.js'
import { listIndexesPrivileges } from '../access/definition-privileges.js'

export const listIndexesSpec = {
  name: 'listIndexes',
  access: 'read',
  privileges: listIndexesPrivileges,
  endsWithClient: true,
  opensCursor: true,
  apiVersion1: true,
  manual: 'reference/command/listIndexes',
  fields: { cursor: 'object', includeBuildUUIDs: 'bool', includeIndexBuildInfo: 'bool' },
} as const satisfies CommandSpec
