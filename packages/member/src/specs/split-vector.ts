import type { CommandSpec } from './command-spec.js'

export const splitVectorSpec = {
  name: 'splitVector',
  access: 'admin',
  manual: 'reference/command/splitVector',
} as const satisfies CommandSpec
