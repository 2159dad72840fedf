import type { ClusterOptions } from '@shardlab/cluster'
import type { UpOptions } from './up-options.js'

/** The API has the same options, with units in the names of numbers, and checks the values. */
export function clusterOptions({
  json: _json,
  quiet: _quiet,
  exitWithParent: _exitWithParent,
  topologyFile: _topologyFile,
  controlPort: _controlPort,
  initiate,
  balancerRoundInterval: balancerRoundIntervalMs,
  findReplicaSetHostTimeout: findReplicaSetHostTimeoutMs,
  networkTimeout: networkTimeoutMs,
  ...options
}: UpOptions): ClusterOptions {
  return {
    ...(options as ClusterOptions),
    // Commander sets `initiate` to true without `--no-initiate`.
    ...(initiate === false ? { initiate } : {}),
    ...(balancerRoundIntervalMs === undefined ? {} : { balancerRoundIntervalMs }),
    ...(findReplicaSetHostTimeoutMs === undefined ? {} : { findReplicaSetHostTimeoutMs }),
    ...(networkTimeoutMs === undefined ? {} : { networkTimeoutMs }),
  }
}
