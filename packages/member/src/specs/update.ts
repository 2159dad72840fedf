import type { CommandSpec } from './command-spec.js'
import { updatePrivileges } from '../access/write-privileges.js'

export const updateSpec = {
  name: 'update',
  access: 'write',
  privileges: updatePrivileges,
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
