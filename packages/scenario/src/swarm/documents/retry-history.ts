import { configAddress } from '@shardlab/actor'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { ReplicaSets } from '../../sets/replica-sets.js'

/**
 * Counts the moments at which the unsharded collections of a database may lose their retry history:
 * movePrimary copies documents alone, as on the server. A router that repeats a write after such a
 * moment executes it again.
 */
export class RetryHistoryLosses {
  #count = 0

  constructor(cluster: SimulatedCluster, sets: ReplicaSets, db: string) {
    const isOfConfig = (member: string): boolean => sets.setOf(member) === configAddress
    cluster.onEvent((event) => {
      if (event.type === 'catalog' && event.change === 'primary-moved' && event.ns === db) this.#count++
      // A commit whose event is lost with the config server.
      else if (event.type === 'member' && event.state !== 'started' && isOfConfig(event.member)) this.#count++
      else if (event.type === 'member-state' && isOfConfig(event.member)) this.#count++
    })
  }

  get count(): number {
    return this.#count
  }
}
