import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const convertToCappedSpec = {
  name: 'convertToCapped',
  access: 'write',
  privileges: onNamespace('convertToCapped'),
  manual: 'reference/command/convertToCapped',
  fields: { size: 'number!' },
} as const satisfies CommandSpec
