import type { CommandSpec } from './command-spec.js'

export const listCollectionsSpec = {
  name: 'listCollections',
  access: 'read',
  endsWithClient: true,
  apiVersion1: true,
  manual: 'reference/command/listCollections',
  fields: { filter: 'object', nameOnly: 'bool', authorizedCollections: 'bool', cursor: 'object' },
} as const satisfies CommandSpec
