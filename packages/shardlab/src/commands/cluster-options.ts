import type { ClusterOptions } from '@shardlab/cluster'
import { optionsOfLimitFlags } from './limit-flags.js'
import { machinesOfFlags } from './machine-flags.js'
import { tlsOfFlags } from './tls-flags.js'
import type { UpOptions } from './up-options.js'

/** The API has the same options, with units in the names of numbers, and checks the values. */
export function clusterOptions({
  json: _json,
  quiet: _quiet,
  exitWithParent: _exitWithParent,
  topologyFile: _topologyFile,
  controlPort: _controlPort,
  import: _import,
  exportOnExit: _exportOnExit,
  maxConns,
  maxOpenCursors,
  maxRequestMemory,
  setParameter,
  dbpath: dbPath,
  initiate,
  balancerRoundInterval: balancerRoundIntervalMs,
  findReplicaSetHostTimeout: findReplicaSetHostTimeoutMs,
  networkTimeout: networkTimeoutMs,
  machines,
  place,
  ...given
}: UpOptions): ClusterOptions {
  const options = Object.fromEntries(Object.entries(given).filter(([name]) => !/^(tls|nats)/.test(name)))
  const tls = tlsOfFlags(given)
  const nats = machinesOfFlags(given, machines, place)
  return {
    ...(options as ClusterOptions),
    ...(tls === undefined ? {} : { tls }),
    ...(nats === undefined ? {} : { nats }),
    ...optionsOfLimitFlags({ maxConns, maxOpenCursors, maxRequestMemory, setParameter }),
    ...(dbPath === undefined ? {} : { dbPath }),
    // Commander sets `initiate` to true without `--no-initiate`.
    ...(initiate === false ? { initiate } : {}),
    ...(balancerRoundIntervalMs === undefined ? {} : { balancerRoundIntervalMs }),
    ...(findReplicaSetHostTimeoutMs === undefined ? {} : { findReplicaSetHostTimeoutMs }),
    ...(networkTimeoutMs === undefined ? {} : { networkTimeoutMs }),
  }
}
