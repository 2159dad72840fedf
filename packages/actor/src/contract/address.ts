/**
 * The name of one member of a cluster: `shard01`, `config`, `mongos01`, `balancer`, or an outside
 * party such as `cluster` (the API) and the clients of the simulated runtime. Unique in one cluster.
 */
export type Address = string

/** The config server's address. There is one config server in a cluster. */
export const configAddress: Address = 'config'

/** The balancer's address. */
export const balancerAddress: Address = 'balancer'

/** The API's own address: `ShardedCluster` sends its requests from here. */
export const clusterAddress: Address = 'cluster'

/** `shard01`, `shard02`, … : ids and addresses of shards are the same. */
export function shardAddress(index: number): Address {
  return `shard${String(index + 1).padStart(2, '0')}`
}

export function isShardAddress(address: Address): boolean {
  return /^shard\d+$/.test(address)
}

/** `client01`, `client02`, … : clients of the simulated runtime, which are no members. */
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
