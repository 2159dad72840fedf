/** Server: resharding_server_parameters.idl. */
import type { ParameterRow } from '@shardlab/member'

const traits = {
  settableAtRuntime: true,
  settableAtStartup: true,
  behaviour: 'reshardCollectionCommand',
} as const

export const reshardingParameters = [
  { name: 'reshardingCriticalSectionTimeoutMillis', type: 'int', initial: 5000, min: 0, ...traits },
  // The server's default, five minutes, allows for the lag of secondaries and routers, which do not
  // lag here.
  { name: 'reshardingMinimumOperationDurationMillis', type: 'int', initial: 0, min: 0, ...traits },
] as const satisfies readonly ParameterRow[]
