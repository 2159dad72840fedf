/**
 * The name of a member, such as `shard01`, `config`, `mongos01` or `balancer`, or of a party
 * outside of the cluster, such as `cluster` (the API) or a simulated client. Unique in one cluster.
 */
export type Address = string

export const configAddress: Address = 'config'

export const balancerAddress: Address = 'balancer'

/** The API, from which `ShardedCluster` sends its requests. */
export const clusterAddress: Address = 'cluster'

/** Of the shards that a cluster starts with: `shard01`, `shard02`, … */
export function shardAddress(index: number): Address {
  return `shard${String(index + 1).padStart(2, '0')}`
}

/**
 * The name of a shard's replica set can be anything that is no other member's name. Members of the
 * set `config` are `config-1`, `config-2`, …
 */
export function isShardAddress(address: Address): boolean {
  return !isReservedAddress(address) && !/^config-\d+$/.test(address)
}

/** Whether only a member of another role, or a party outside of the cluster, has such a name. */
export function isReservedAddress(address: Address): boolean {
  return (
    address === configAddress ||
    address === balancerAddress ||
    address === clusterAddress ||
    isMongosAddress(address) ||
    isClientAddress(address)
  )
}

/** Simulated clients are not members. */
export function clientAddress(index: number): Address {
  return `client${String(index + 1).padStart(2, '0')}`
}

export function isClientAddress(address: Address): boolean {
  return /^client\d+$/.test(address)
}

export function mongosAddress(index: number): Address {
  return `mongos${String(index + 1).padStart(2, '0')}`
}

export function isMongosAddress(address: Address): boolean {
  return /^mongos\d+$/.test(address)
}
