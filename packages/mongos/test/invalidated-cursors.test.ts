/** Server: async_results_merger.cpp. */
import t from 'tap'
import { type Document, type Long } from '@shardlab/bson'
import { dropLocalNamespace } from '@shardlab/node'
import type { EmulatedVersion } from '@shardlab/sharding'
import { RealCluster } from './support/real-cluster.js'

async function readOnAfterDrop(emulate: EmulatedVersion): Promise<Document> {
  const cluster = await RealCluster.create({ emulate })
  await cluster.run({ insert: 'c', documents: Array.from({ length: 60 }, (_, _id) => ({ _id, x: _id * 5 - 100 })) })
  const { id } = (await cluster.run({ find: 'c', sort: { x: 1 }, batchSize: 2 }))['cursor'] as { id: Long }
  for (const node of cluster.nodes.values()) dropLocalNamespace(node, 'test.c')
  return cluster.run({ getMore: id, collection: 'c' })
}

t.test('the client gets the error of the shard with its host', async (t) => {
  for (const emulate of ['4.4', '8.0'] as const) {
    const reply = await readOnAfterDrop(emulate)
    t.match(reply, { ok: 0, code: 175, codeName: 'QueryPlanKilled' })
    t.match(reply['errmsg'], /^Error on remote shard [^ ]+ :: caused by :: collection dropped\. UUID [0-9a-f-]{36}$/)
  }
  const between = 'collection dropped between getMore calls'
  t.match(await readOnAfterDrop('4.0'), {
    code: 96,
    errmsg: new RegExp(`^Error on remote shard [^ ]+ :: caused by :: ${between}$`),
  })
  t.match(await readOnAfterDrop('2.6'), { code: 17356, errmsg: between })
})
