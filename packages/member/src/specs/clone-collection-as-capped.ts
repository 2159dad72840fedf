import type { CommandSpec } from './command-spec.js'

export const cloneCollectionAsCappedSpec = {
  name: 'cloneCollectionAsCapped',
  access: 'write',
  manual: 'reference/command/cloneCollectionAsCapped',
  fields: { toCollection: 'string!', size: 'number!', temp: 'bool' },
} as const satisfies CommandSpec
