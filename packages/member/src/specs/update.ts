import type { CommandSpec } from './command-spec.js'

export const updateSpec = {
  name: 'update',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/update',
  retryable: true,
  fields: {
    updates: 'array!',
    ordered: 'bool',
    bypassDocumentValidation: 'bool',
    bypassEmptyTsReplacement: 'bool',
    let: 'object',
    collectionUUID: 'binary',
  },
} as const satisfies CommandSpec
