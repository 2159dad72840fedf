import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const getClusterParameterSpec = {
  name: 'getClusterParameter',
  access: 'admin',
  privileges: onCluster('getClusterParameter'),
  adminOnly: true,
  behaviour: 'clusterParameters',
  manual: 'reference/command/getClusterParameter',
  fields: { omitInFTDC: 'bool' },
} as const satisfies CommandSpec
