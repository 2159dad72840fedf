import type { CommandSpec } from './command-spec.js'
import { deletePrivileges } from '../access/write-privileges.js'

export const deleteSpec = {
  name: 'delete',
  access: 'write',
  privileges: deletePrivileges,
  apiVersion1: true,
  manual: 'reference/command/delete',
  retryable: true,
  fields: { deletes: 'array!', ordered: 'bool', let: 'object', collectionUUID: 'binary' },
} as const satisfies CommandSpec
