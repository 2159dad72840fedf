import type { CommandSpec } from './command-spec.js'
import { onNamedNamespace } from '../access/needs.js'

export const splitVectorSpec = {
  name: 'splitVector',
  access: 'admin',
  privileges: onNamedNamespace('splitVector'),
  manual: 'reference/command/splitVector',
} as const satisfies CommandSpec
