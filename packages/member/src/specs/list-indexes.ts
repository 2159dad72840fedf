import type { CommandSpec } from './command-spec.js'

export const listIndexesSpec = {
  name: 'listIndexes',
  access: 'read',
  endsWithClient: true,
  apiVersion1: true,
  manual: 'reference/command/listIndexes',
  fields: { cursor: 'object', includeBuildUUIDs: 'bool', includeIndexBuildInfo: 'bool' },
} as const satisfies CommandSpec
