import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const listIndexesSpec = {
  name: 'listIndexes',
  access: 'read',
  privileges: onNamespace('listIndexes'),
  endsWithClient: true,
  apiVersion1: true,
  manual: 'reference/command/listIndexes',
  fields: { cursor: 'object', includeBuildUUIDs: 'bool', includeIndexBuildInfo: 'bool' },
} as const satisfies CommandSpec
