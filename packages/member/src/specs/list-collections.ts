import type { CommandSpec } from './command-spec.js'
import { listCollectionsPrivileges } from '../access/definition-privileges.js'

export const listCollectionsSpec = {
  name: 'listCollections',
  access: 'read',
  privileges: listCollectionsPrivileges,
  endsWithClient: true,
  opensCursor: true,
  apiVersion1: true,
  manual: 'reference/command/listCollections',
  fields: { filter: 'object', nameOnly: 'bool', authorizedCollections: 'bool', cursor: 'object' },
} as const satisfies CommandSpec
