/** Parameters of resharding. Server: resharding_server_parameters.idl. */
import type { ParameterRow } from '@shardlab/member'

const traits = {
  settableAtRuntime: true,
  settableAtStartup: true,
  behaviour: 'reshardCollectionCommand',
} as const

export const reshardingParameters = [
  { name: 'reshardingCriticalSectionTimeoutMillis', type: 'int', initial: 5000, min: 0, ...traits },
  // The server's default, five minutes, is for secondaries and routers that lag behind; there are none here.
  { name: 'reshardingMinimumOperationDurationMillis', type: 'int', initial: 0, min: 0, ...traits },
] as const satisfies readonly ParameterRow[]
