/** A router over real storage nodes with the collections that a test names. */
import type { NodeCommand } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { FakeCluster } from './fake-cluster.js'
import { RealCluster, type ShardedCollection } from './sharded-nodes.js'

export { RealCluster, type RealClusterOptions, type ShardedCollection } from './sharded-nodes.js'

export async function realCluster(sharded: readonly ShardedCollection[], emulate: EmulatedVersion = '8.0'): Promise<RealCluster> {
  const cluster = await RealCluster.create({ sharded, emulate })
  for (const [shard, node] of cluster.nodes) {
    // What a shard coordinates with others is here the node's own command: nobody else has a part in it.
    const coordinated = async (db: string, command: Document): Promise<{ error: Uint8Array | null }> => {
      const { body } = await node.nodeCommand({
        db,
        body: encode(command),
        sequences: [],
        shardVersion: null,
        databaseVersion: null,
        stmtIds: null,
        clusterTime: [1, 1],
      })
      return { error: decode(body)['ok'] === 1 ? null : body }
    }
    cluster.world.members.set(shard, (kind, request) => {
      const { ns, to, dropTarget } = request as { ns: string; to: string; dropTarget: boolean }
      const dot = ns?.indexOf('.')
      if (kind === 'shard.rename-collection') return coordinated('admin', { renameCollection: ns, to, dropTarget })
      if (kind === 'shard.drop-collection')
        return coordinated(ns.slice(0, dot), { drop: ns.slice(dot + 1) }).then((reply) => ({ ...reply, existed: true, indexCount: 1 }))
      return node.nodeCommand(request as NodeCommand)
    })
  }
  return cluster
}

/** All documents of a command's cursor. `batchSize`: of each getMore; 0: no limit. */
export async function drain(cluster: FakeCluster, command: Document, batchSize = 0): Promise<Document[]> {
  const reply = await cluster.run(command)
  if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  let { cursor } = reply
  const documents: Document[] = [...cursor.firstBatch]
  while (!cursor.id.isZero()) {
    const [db, collection] = (cursor.ns as string).split(/\.(.*)/s)
    const more = await cluster.run({ getMore: cursor.id, collection, ...(batchSize > 0 ? { batchSize } : {}), $db: db })
    if (more['ok'] !== 1) throw new Error(JSON.stringify(more))
    ;({ cursor } = more)
    documents.push(...cursor.nextBatch)
  }
  return documents
}
