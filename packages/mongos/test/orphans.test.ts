/**
 * Manual: reference/read-concern-available, reference/command/count, reference/command/distinct.
 */
import { encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { RealCluster } from './support/real-cluster.js'

/** Three documents are on their owners, and one on shard01 that belongs to shard03. */
async function withOrphan(): Promise<RealCluster> {
  const cluster = await RealCluster.create({ emulate: '7.0' })
  await cluster.run({ insert: 'c', documents: [-5, 5, 500].map((x) => ({ _id: x, x, v: 1 })) })
  await cluster.nodes.get('shard01')!.nodeCommand({
    db: 'test',
    body: encode({ insert: 'c', documents: [{ _id: 'orphan', x: 501, v: 1 }], $db: 'test' }),
    sequences: [],
    shardVersion: null,
    databaseVersion: null,
    stmtIds: null,
    clusterTime: [1, 1],
    operationKey: 0,
    batchBytesMax: 0,
  })
  return cluster
}

const idsOf = (reply: Document) => reply['cursor'].firstBatch.map((document: Document) => document['_id'])

t.test('only distinct and reads with readConcern available see orphans', async (t) => {
  const cluster = await withOrphan()
  const available = { readConcern: { level: 'available' } }
  for (const readConcern of [{}, { readConcern: { level: 'local' } }, { readConcern: { level: 'majority' } }]) {
    const title = JSON.stringify(readConcern)
    t.same(idsOf(await cluster.run({ find: 'c', sort: { x: 1 }, ...readConcern })), [-5, 5, 500], `find ${title}`)
    t.equal((await cluster.run({ count: 'c', query: { v: 1 }, ...readConcern }))['n'], 3, `count ${title}`)
    t.same(
      (await cluster.run({ distinct: 'c', key: 'x', ...readConcern }))['values'],
      [-5, 5, 500, 501],
      `distinct does not filter: ${title}`,
    )
    const pipeline = [{ $group: { _id: null, n: { $sum: 1 } } }]
    t.match(
      (await cluster.run({ aggregate: 'c', pipeline, cursor: {}, ...readConcern }))['cursor'].firstBatch,
      [{ n: 3 }],
      `aggregate ${title}`,
    )
  }
  t.same(idsOf(await cluster.run({ find: 'c', sort: { x: 1 }, ...available })), [-5, 5, 500, 'orphan'])
  t.equal((await cluster.run({ count: 'c', query: { v: 1 }, ...available }))['n'], 4)
  t.same((await cluster.run({ distinct: 'c', key: 'x', ...available }))['values'], [-5, 5, 500, 501])
  const pipeline = [{ $sort: { x: 1 } }, { $skip: 3 }]
  t.match(idsOf(await cluster.run({ aggregate: 'c', pipeline, cursor: {}, ...available })), ['orphan'])
  t.same(
    idsOf(await cluster.run({ find: 'c', filter: { x: 501 }, ...available })),
    [],
    'a targeted read asks the owner only',
  )
})

t.test('a count without a filter includes orphans', async (t) => {
  const cluster = await withOrphan()
  t.equal((await cluster.run({ count: 'c' }))['n'], 4)
  t.equal((await cluster.run({ count: 'c', query: {} }))['n'], 4)
  t.equal((await cluster.run({ count: 'c', query: { _id: { $exists: true } } }))['n'], 3)
})

t.test('a read with readConcern available uses the cached placement and is never refused as stale', async (t) => {
  const cluster = await withOrphan()
  await cluster.run({ find: 'c' })
  // The router's cached placement does not change.
  await cluster.shard({ ns: 'test.c', field: 'x', splits: [0, 100] }, ['shard02', 'shard01', 'shard03'])
  const read = (level: string) => cluster.run({ find: 'c', filter: { x: 5 }, readConcern: { level } })
  t.same(idsOf(await read('available')), [5], 'where it was')
  t.same(idsOf(await read('local')), [], 'the new owner does not have it here')
})
