import type { CommandSpec } from './command-spec.js'

export const dropSpec = {
  name: 'drop',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/drop',
  fields: { collectionUUID: 'binary' },
} as const satisfies CommandSpec
