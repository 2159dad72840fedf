import type { CommandSpec } from './command-spec.js'
import { insertPrivileges } from '../access/write-privileges.js'

export const insertSpec = {
  name: 'insert',
  access: 'write',
  privileges: insertPrivileges,
  apiVersion1: true,
  manual: 'reference/command/insert',
  retryable: true,
  fields: {
    documents: 'array!',
    ordered: 'bool',
    bypassDocumentValidation: 'bool',
    bypassEmptyTsReplacement: 'bool',
    collectionUUID: 'binary',
  },
} as const satisfies CommandSpec
