import type { SimulatedCluster } from '@shardlab/cluster'
import { SimulatedClient } from './client.js'
import type { Client, ClientOptions } from './types.js'

export { errorsOf, labelsOf } from './reply.js'
export type * from './types.js'

/** Adds a client, which discovers the mongoses as time passes, to the cluster's network. */
export function createClient(cluster: SimulatedCluster, options: ClientOptions = {}): Client {
  return cluster.addClient(
    (context, nextConnectionId) => new SimulatedClient({ context, mongos: cluster.mongos, nextConnectionId }, options),
  )
}
