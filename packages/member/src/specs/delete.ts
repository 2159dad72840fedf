import type { CommandSpec } from './command-spec.js'

export const deleteSpec = {
  name: 'delete',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/delete',
  retryable: true,
  fields: { deletes: 'array!', ordered: 'bool', let: 'object', collectionUUID: 'binary' },
} as const satisfies CommandSpec
