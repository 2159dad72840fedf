/** A cluster with a driver's client; both end with the scope: `await using`. */
import { ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import { MongoClient, type Db } from 'mongodb'
import { anyMembers } from './members.js'

export interface Connected extends AsyncDisposable {
  readonly cluster: ShardedCluster
  readonly client: MongoClient
  readonly admin: Db
}

export async function connected(options: ClusterOptions): Promise<Connected> {
  const cluster = await ShardedCluster.start({ runtime: 'inline', ...anyMembers, ...options })
  const client = await MongoClient.connect(cluster.uri)
  return {
    cluster,
    client,
    admin: client.db('admin'),
    async [Symbol.asyncDispose]() {
      await client.close()
      await cluster.stop()
    },
  }
}
