import type { CommandSpec } from './command-spec.js'

export const convertToCappedSpec = {
  name: 'convertToCapped',
  access: 'write',
  manual: 'reference/command/convertToCapped',
  fields: { size: 'number!' },
} as const satisfies CommandSpec
