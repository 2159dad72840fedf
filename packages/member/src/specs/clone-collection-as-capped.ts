import type { CommandSpec } from './command-spec.js'
import { cloneCollectionAsCappedPrivileges } from '../access/definition-privileges.js'

export const cloneCollectionAsCappedSpec = {
  name: 'cloneCollectionAsCapped',
  access: 'write',
  privileges: cloneCollectionAsCappedPrivileges,
  manual: 'reference/command/cloneCollectionAsCapped',
  fields: { toCollection: 'string!', size: 'number!', temp: 'bool' },
} as const satisfies CommandSpec
