import type { CommandSpec } from './command-spec.js'

export const getClusterParameterSpec = {
  name: 'getClusterParameter',
  access: 'admin',
  adminOnly: true,
  behaviour: 'clusterParameters',
  manual: 'reference/command/getClusterParameter',
  fields: { omitInFTDC: 'bool' },
} as const satisfies CommandSpec
