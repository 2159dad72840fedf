import type { CommandSpec } from './command-spec.js'

export const helloSpec = {
  name: 'hello',
  access: 'none',
  privileges: 'none',
  endsWithClient: true,
  apiVersion1: true,
  manual: 'reference/command/hello',
} as const satisfies CommandSpec
