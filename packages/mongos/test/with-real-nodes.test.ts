/** The router over real storage nodes, whose role checks versions and filters by placement: both ends speak the same protocol. */
import t from 'tap'
import fc from 'fast-check'
import { CommandError, decode, DocumentWriter, Long, type Document } from '@shardlab/bson'
import { createRandom, type NodeCommand } from '@shardlab/actor'
import { StorageNode, type NodeRole } from '@shardlab/node'
import { applyPlacementAnswer, behavioursOf, OwnershipFilter, type PlacementAnswer } from '@shardlab/sharding'
import { FakeCluster } from './support/fake-cluster.js'

async function realCluster(): Promise<FakeCluster> {
  const cluster = new FakeCluster()
  cluster.shardByRange('test.c', 'x', [0, 100], ['shard01', 'shard02', 'shard03'])
  const config = cluster.world.members.get('config')!
  const answer = (await config('config.get-collection', { ns: 'test.c', since: null } as never)) as PlacementAnswer
  const placement = applyPlacementAnswer('test.c', null, answer)!
  for (const shard of ['shard01', 'shard02', 'shard03']) {
    const role: NodeRole = {
      name: 'shard',
      setName: shard,
      rows: [],
      enter(ns, { routed }) {
        const version = routed!.shardVersion
        if (version === 'IGNORED' || version === null) return { ownership: null }
        const sharded = ns === 'test.c'
        if ((version === 'UNSHARDED') === sharded)
          throw new CommandError('StaleConfig', 'stale', { extra: new DocumentWriter().string('ns', ns).finish() })
        return { ownership: sharded ? new OwnershipFilter(placement, shard) : null }
      },
      checkReplacement() {},
      checkImplicitCreate() {},
    }
    const context = {
      ...cluster.world.context(shard),
      random: createRandom(shard),
      disk: {
        append: async () => {},
        writeCheckpoint: async () => {},
        read: () => ({ checkpoint: null, records: [] }),
        usage: () => ({ logBytes: 0, checkpointBytes: 0, limitBytes: 1e9 }),
      },
    }
    const node = new StorageNode(context, { behaviours: behavioursOf('7.0'), maxWireVersion: 21 }, () => role)
    cluster.world.members.set(shard, (_kind, request) => node.nodeCommand(request as NodeCommand))
  }
  return cluster
}

async function drainCursor(cluster: FakeCluster, command: Document, batchSize: number): Promise<Document[]> {
  let { cursor } = await cluster.run(command)
  const documents: Document[] = [...cursor.firstBatch]
  while (!cursor.id.isZero()) {
    cursor = (await cluster.run({ getMore: cursor.id, collection: 'c', ...(batchSize > 0 ? { batchSize } : {}) }))['cursor']
    documents.push(...cursor.nextBatch)
  }
  return documents
}

t.test('what goes in comes out: sorted, skipped, limited, in batches of any size (property)', async () => {
  const row = fc.record({ x: fc.integer({ min: -150, max: 250 }), y: fc.integer({ min: 0, max: 5 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 40 }),
      fc.record({
        direction: fc.constantFrom(1, -1),
        skip: fc.nat(10),
        limit: fc.nat(20),
        batchSize: fc.nat(7),
        least: fc.integer({ min: -200, max: 300 }),
      }),
      async (rows, { direction, skip, limit, batchSize, least }) => {
        const cluster = await realCluster()
        const documents = rows.map((values, _id) => ({ _id, ...values }))
        const written = await cluster.run({ insert: 'c', ordered: false, documents })
        if (written['n'] !== rows.length) return false
        const order = (a: Document, b: Document) => direction * (a['y'] - b['y']) || a['_id'] - b['_id']
        const matching = documents.filter(({ x }) => x >= least).sort(order)
        const expected = matching.slice(skip, limit === 0 ? undefined : skip + limit)
        const found = await drainCursor(
          cluster,
          {
            find: 'c',
            filter: { x: { $gte: least } },
            sort: { y: direction, _id: 1 },
            skip,
            limit,
            ...(batchSize > 0 ? { batchSize } : {}),
          },
          batchSize,
        )
        const counted = await cluster.run({ count: 'c', query: { x: { $gte: least } }, skip, ...(limit > 0 ? { limit } : {}) })
        return JSON.stringify(found) === JSON.stringify(expected) && counted['n'] === expected.length
      },
    ),
    { numRuns: 60 },
  )
})

t.test('groups over several shards are those of all documents', async (t) => {
  const cluster = await realCluster()
  await cluster.run({ insert: 'c', documents: Array.from({ length: 90 }, (_, i) => ({ _id: i, x: (i % 30) * 10 - 100, k: i % 3 })) })
  const pipeline = [{ $group: { _id: '$k', n: { $sum: 1 }, mean: { $avg: '$_id' } } }, { $sort: { _id: 1 } }]
  t.same(await drainCursor(cluster, { aggregate: 'c', pipeline, cursor: { batchSize: 1 } }, 1), [
    { _id: 0, n: 30, mean: 43.5 },
    { _id: 1, n: 30, mean: 44.5 },
    { _id: 2, n: 30, mean: 45.5 },
  ])
})

t.test('writes', async (t) => {
  const cluster = await realCluster()
  await cluster.run({ insert: 'c', documents: [-5, 5, 500].map((x, _id) => ({ _id, x, y: 1 })) })
  t.match(
    await cluster.run({
      insert: 'c',
      ordered: false,
      documents: [
        { _id: 9, x: 9 },
        { _id: 1, x: 5 },
        { _id: 10, x: -9 },
      ],
    }),
    { n: 2, writeErrors: [{ index: 1, code: 11000, keyPattern: { _id: 1 } }] },
  )
  t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { $inc: { n: 1 } }, multi: true }] }), { n: 3, nModified: 3, ok: 1 })
  t.match(await cluster.run({ update: 'c', updates: [{ q: { _id: 2 }, u: { $inc: { n: 1 } } }] }), { n: 1, nModified: 1 })
  t.match(await cluster.run({ update: 'c', updates: [{ q: { n: 2 }, u: { $set: { z: 1 } } }] }), { n: 1, nModified: 1 })
  t.match(await cluster.run({ update: 'c', updates: [{ q: { z: 5 }, u: { $set: { x: 300 } }, upsert: true }] }), {
    n: 1,
    nModified: 0,
    upserted: [{ index: 0 }],
  })
  t.match((await cluster.run({ find: 'c', filter: { z: 5 } }))['cursor'].firstBatch, [{ x: 300, z: 5 }])
  t.match(await cluster.run({ delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }), { n: 1 })
  t.match(await cluster.run({ delete: 'c', deletes: [{ q: {}, limit: 0 }] }), { n: 5 })
  t.match(await cluster.run({ count: 'c' }), { n: 0 })
})

t.test('indexes and lists', async (t) => {
  const cluster = await realCluster()
  await cluster.run({
    insert: 'c',
    documents: [
      { _id: 1, x: -1 },
      { _id: 2, x: 1 },
      { _id: 3, x: 900 },
    ],
  })
  t.match(await cluster.run({ createIndexes: 'c', indexes: [{ key: { y: 1 }, name: 'y_1' }] }), { raw: Object, ok: 1 })
  t.same(
    (await cluster.run({ listIndexes: 'c' }))['cursor'].firstBatch.map(({ name }: Document) => name),
    ['_id_', 'y_1'],
  )
  t.match(decode(await cluster.runRaw({ listCollections: 1 }))['cursor'].firstBatch, [{ name: 'c' }])
  t.match(await cluster.run({ find: 'plain' }), { cursor: { firstBatch: [], id: Long.ZERO } })
})
