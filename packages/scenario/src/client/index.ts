/** A client of a simulated cluster, as drivers are clients of a live one. */
import type { SimulatedCluster } from '@shardlab/cluster'
import { SimulatedClient } from './client.js'
import type { Client, ClientOptions } from './types.js'

export { errorsOf, labelsOf } from './reply.js'
export type * from './types.js'

/** Puts a client on the cluster's network; it begins to look for the mongoses as soon as time passes. */
export function createClient(cluster: SimulatedCluster, options: ClientOptions = {}): Client {
  return cluster.addClient(
    (context, nextConnectionId) => new SimulatedClient({ context, mongos: cluster.mongos, nextConnectionId }, options),
  )
}
