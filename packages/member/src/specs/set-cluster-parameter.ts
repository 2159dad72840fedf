import type { CommandSpec } from './command-spec.js'

export const setClusterParameterSpec = {
  name: 'setClusterParameter',
  access: 'admin',
  adminOnly: true,
  behaviour: 'clusterParameters',
  manual: 'reference/command/setClusterParameter',
  fields: {},
} as const satisfies CommandSpec
