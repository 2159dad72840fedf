import { configAddress } from '@shardlab/actor'
import type { SimulatedCluster } from '@shardlab/cluster'

/**
 * Counts the moments at which the unsharded collections of a database may lose their retry history:
 * movePrimary copies documents alone, as on the server. A router that repeats a write after such a
 * moment executes it again.
 */
export class RetryHistoryLosses {
  #count = 0

  constructor(cluster: SimulatedCluster, db: string) {
    cluster.onEvent((event) => {
      if (event.type === 'catalog' && event.change === 'primary-moved' && event.ns === db) this.#count++
      // A commit whose event is lost with the config server.
      else if (event.type === 'member' && event.member === configAddress && event.state !== 'started') this.#count++
    })
  }

  get count(): number {
    return this.#count
  }
}
