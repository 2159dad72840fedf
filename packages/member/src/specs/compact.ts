import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const compactSpec = {
  name: 'compact',
  access: 'admin',
  privileges: onNamespace('compact'),
  manual: 'reference/command/compact',
} as const satisfies CommandSpec
