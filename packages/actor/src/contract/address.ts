/**
 * The name of one member of a cluster, `shard01`, `config`, `mongos01` or `balancer`, or of a party
 * outside of it, such as `cluster` (the API) or a simulated client. Unique in one cluster.
 */
export type Address = string

/** The address of the cluster's one config server. */
export const configAddress: Address = 'config'

export const balancerAddress: Address = 'balancer'

/** The address of the API, from which `ShardedCluster` sends its requests. */
export const clusterAddress: Address = 'cluster'

/** `shard01`, `shard02`, …; the id of a shard is the same. */
export function shardAddress(index: number): Address {
  return `shard${String(index + 1).padStart(2, '0')}`
}

export function isShardAddress(address: Address): boolean {
  return /^shard\d+$/.test(address)
}

/** `client01`, `client02`, …: simulated clients, which are not members. */
export function clientAddress(index: number): Address {
  return `client${String(index + 1).padStart(2, '0')}`
}

export function isClientAddress(address: Address): boolean {
  return /^client\d+$/.test(address)
}

/** `mongos01`, `mongos02`, … */
export function mongosAddress(index: number): Address {
  return `mongos${String(index + 1).padStart(2, '0')}`
}

export function isMongosAddress(address: Address): boolean {
  return /^mongos\d+$/.test(address)
}
