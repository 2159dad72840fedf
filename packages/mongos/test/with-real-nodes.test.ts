/**
 * The storage nodes check versions and filter by placement, so both ends of the protocol are real.
 */
import t from 'tap'
import fc from 'fast-check'
import { decode, Long, type Document } from '@shardlab/bson'
import { drain, realCluster } from './support/real-cluster.js'

const byX = [{ ns: 'test.c', field: 'x', splits: [0, 100] }]

t.test('a find returns the inserted documents for any sort, skip, limit and batch size (property)', async () => {
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
        const cluster = await realCluster(byX, '7.0')
        const documents = rows.map((values, _id) => ({ _id, ...values }))
        const written = await cluster.run({ insert: 'c', ordered: false, documents })
        if (written['n'] !== rows.length) return false
        const order = (a: Document, b: Document) => direction * (a['y'] - b['y']) || a['_id'] - b['_id']
        const matching = documents.filter(({ x }) => x >= least).sort(order)
        const expected = matching.slice(skip, limit === 0 ? undefined : skip + limit)
        const found = await drain(
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
        const counted = await cluster.run({
          count: 'c',
          query: { x: { $gte: least } },
          skip,
          ...(limit > 0 ? { limit } : {}),
        })
        return JSON.stringify(found) === JSON.stringify(expected) && counted['n'] === expected.length
      },
    ),
    { numRuns: 60 },
  )
})

t.test('groups over several shards are those of all documents', async (t) => {
  const cluster = await realCluster(byX, '7.0')
  await cluster.run({
    insert: 'c',
    documents: Array.from({ length: 90 }, (_, i) => ({ _id: i, x: (i % 30) * 10 - 100, k: i % 3 })),
  })
  const pipeline = [{ $group: { _id: '$k', n: { $sum: 1 }, mean: { $avg: '$_id' } } }, { $sort: { _id: 1 } }]
  t.same(await drain(cluster, { aggregate: 'c', pipeline, cursor: { batchSize: 1 } }, 1), [
    { _id: 0, n: 30, mean: 43.5 },
    { _id: 1, n: 30, mean: 44.5 },
    { _id: 2, n: 30, mean: 45.5 },
  ])
})

t.test('writes reach the owners of the documents', async (t) => {
  const cluster = await realCluster(byX, '8.0')
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
  t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { $inc: { n: 1 } }, multi: true }] }), {
    n: 3,
    nModified: 3,
    ok: 1,
  })
  t.match(await cluster.run({ update: 'c', updates: [{ q: { _id: 2 }, u: { $inc: { n: 1 } } }] }), {
    n: 1,
    nModified: 1,
  })
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

t.test('indexes, collections and databases are listed', async (t) => {
  const cluster = await realCluster(byX, '7.0')
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

t.test('an unknown stage in an update on several shards fails the whole command', async (t) => {
  const cluster = await realCluster(byX, '7.0')
  await cluster.run({ insert: 'c', documents: [-5, 5, 500].map((x, _id) => ({ _id, x })) })
  const updates = [
    { q: {}, u: [{ $set: { a: 1 } }], multi: true },
    { q: { x: 5 }, u: [{ $nonsense: 1 }] },
  ]
  t.match(await cluster.run({ update: 'c', ordered: false, updates }), {
    ok: 0,
    code: 40324,
    errmsg: "Unrecognized pipeline stage name: '$nonsense'",
  })
  t.match(await cluster.run({ count: 'c', query: { a: 1 } }), { n: 3 }, 'the other statement has run')
})

t.test('a failing constant is reported by the router as a failure to optimize the pipeline', async (t) => {
  const cluster = await realCluster(byX, '7.0')
  const failing = { $set: { a: { $add: ['age', 1] } } }
  t.match(await cluster.run({ aggregate: 'c', pipeline: [failing], cursor: {} }), {
    code: 14,
    errmsg: 'Failed to optimize pipeline :: caused by :: $add only supports numeric or date types, not string',
  })
  t.match(await cluster.run({ update: 'c', updates: [{ q: { x: 9 }, u: [failing] }] }), { ok: 1, n: 0 })
})

t.test('a router refuses a pipeline, a target of $out and a read concern as a shard does', async (t) => {
  const cluster = await realCluster(byX, '7.0')
  await cluster.run({ insert: 'c', documents: [-5, 5, 500].map((x, _id) => ({ _id, x })) })
  const aggregate = { aggregate: 'c', cursor: {} }
  const admin = { ...aggregate, aggregate: 1, readConcern: { level: 'majority' }, $db: 'admin' }
  const local = (stage: string) => ({
    code: 72,
    errmsg: new RegExp(
      `Aggregation stage \\${stage} cannot run with a readConcern other than 'local'\\. Current readConcern: majority$`,
    ),
  })
  const refusals: [command: Document, expected: Document][] = [
    [
      { ...aggregate, pipeline: 1 },
      { code: 14, errmsg: "'pipeline' option must be specified as an array" },
    ],
    [
      { ...aggregate, pipeline: [1] },
      { code: 14, errmsg: "Each element of the 'pipeline' array must be an object" },
    ],
    [
      { ...aggregate, pipeline: [{ $out: 'a$b' }] },
      { code: 20, errmsg: /error with target namespace: Invalid/ },
    ],
    [{ ...admin, pipeline: [{ $currentOp: {} }] }, local('$currentOp')],
    [{ ...admin, pipeline: [{ $listLocalSessions: {} }] }, local('$listLocalSessions')],
    [{ ...admin, aggregate: 'c', pipeline: [{ $listSearchIndexes: {} }], $db: 'test' }, local('$listSearchIndexes')],
  ]
  for (const [command, expected] of refusals)
    t.match(await cluster.run(command), { ok: 0, ...expected }, JSON.stringify(command))
})

t.test('through a router the cursors of listCollections and listIndexes begin with id and ns', async (t) => {
  const cluster = await realCluster(byX, '7.0')
  const indexes = [1, 2, 3].map((i) => ({ key: { [`f${i}`]: 1 }, name: `f${i}` }))
  for (const collection of ['c', 'plain']) await cluster.run({ createIndexes: collection, indexes })
  for (const command of [
    { listCollections: 1 },
    { listCollections: 1, cursor: { batchSize: 1 } },
    { listCollections: 1, $db: 'none' },
    { listIndexes: 'c' },
    { listIndexes: 'plain', cursor: { batchSize: 1 } },
  ])
    t.same(
      Object.keys((await cluster.run(command))['cursor'] as Document),
      ['id', 'ns', 'firstBatch'],
      JSON.stringify(command),
    )
})
