import type { NodeCommand } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { FakeCluster, statementsOf } from './fake-cluster.js'

/** `x` below 0 is on shard01, 0 to 100 on shard02, the rest on shard03. */
export function threeShards(options = {}): FakeCluster {
  const cluster = new FakeCluster(options)
  cluster.shardByRange('test.c', 'x', [0, 100], ['shard01', 'shard02', 'shard03'])
  return cluster
}

export function inserted(command: NodeCommand): Document {
  return { n: statementsOf(command, 'documents').length, ok: 1 }
}
