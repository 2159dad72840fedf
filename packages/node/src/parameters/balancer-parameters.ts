/**
 * Read by the balancer from the config server. Server: sharding_config_server_parameters.idl,
 * auto_merger_server_parameters.idl.
 */
import type { ParameterRow } from '@shardlab/member'

const traits = { settableAtRuntime: true, settableAtStartup: true } as const

export const balancerParameters = [
  { name: 'autoMergerIntervalSecs', type: 'int', initial: 3600, min: 1, ...traits, behaviour: 'autoMerger' },
  { name: 'autoMergerThrottlingMS', type: 'int', initial: 15_000, min: 0, ...traits, behaviour: 'autoMerger' },
  {
    name: 'balancerMigrationsThrottlingMs',
    type: 'int',
    initial: 1000,
    min: 0,
    ...traits,
    behaviour: 'balancerPausesWithinRounds',
  },
  {
    name: 'chunkDefragmentationThrottlingMS',
    type: 'int',
    initial: 0,
    min: 0,
    ...traits,
    behaviour: 'collectionBalancingCanBeConfigured',
  },
] as const satisfies readonly ParameterRow[]
