import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const setClusterParameterSpec = {
  name: 'setClusterParameter',
  access: 'admin',
  privileges: onCluster('setClusterParameter'),
  adminOnly: true,
  behaviour: 'clusterParameters',
  manual: 'reference/command/setClusterParameter',
  fields: {},
} as const satisfies CommandSpec
