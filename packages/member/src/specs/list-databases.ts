import { listDatabasesPrivileges } from '../access/definition-privileges.js'
import type { CommandSpec } from './command-spec.js'

export const listDatabasesSpec = {
  name: 'listDatabases',
  aliases: ['listdatabases'],
  access: 'read',
  privileges: listDatabasesPrivileges,
  endsWithClient: true,
  adminOnly: true,
  apiVersion1: true,
  manual: 'reference/command/listDatabases',
  fields: { filter: 'object', nameOnly: 'bool', authorizedDatabases: 'bool' },
} as const satisfies CommandSpec
