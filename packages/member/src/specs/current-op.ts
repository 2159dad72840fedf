import type { CommandSpec } from './command-spec.js'
import { currentOpPrivileges } from '../access/administration-privileges.js'

export const currentOpSpec = {
  name: 'currentOp',
  access: 'admin',
  privileges: currentOpPrivileges,
  adminOnly: true,
  manual: 'reference/command/currentOp',
} as const satisfies CommandSpec
