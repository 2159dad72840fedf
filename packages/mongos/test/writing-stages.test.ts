import t from 'tap'
import { decode, type Document } from '@shardlab/bson'
import { drain, realCluster, type RealCluster, type ShardedCollection } from './support/real-cluster.js'

const source: ShardedCollection = { ns: 'test.source', field: 'x', splits: [0, 100] }
const target: ShardedCollection = { ns: 'test.target', field: 'k', splits: [2, 4] }

const rows = [-5, 3, 50, 120].map((x, _id) => ({ _id, x, k: _id, v: `new${_id}` }))

async function filled(sharded: readonly ShardedCollection[], version?: '6.0' | '8.0'): Promise<RealCluster> {
  const cluster = await realCluster(sharded, version)
  await ok(cluster, { insert: 'source', documents: rows })
  return cluster
}

async function ok(cluster: RealCluster, command: Document): Promise<Document> {
  const reply = await cluster.run(command)
  if (reply['ok'] !== 1 || reply['writeErrors'] !== undefined) throw new Error(JSON.stringify(reply))
  return reply
}

const aggregate = (cluster: RealCluster, stage: Document, before: readonly Document[] = []) =>
  cluster.run({ aggregate: 'source', pipeline: [...before, stage], cursor: {} })
const all = (cluster: RealCluster, collection = 'target', db = 'test') =>
  drain(cluster, { find: collection, sort: { _id: 1 }, $db: db })
const names = async (cluster: RealCluster) =>
  ((await ok(cluster, { listCollections: 1, nameOnly: true }))['cursor'].firstBatch as Document[])
    .map(({ name }) => name as string)
    .sort()

t.test('$out replaces a collection', async (t) => {
  for (const sharded of [[], [source]]) {
    const cluster = await filled(sharded)
    t.match(await aggregate(cluster, { $out: 'target' }, [{ $match: { x: { $gt: 0 } } }, { $project: { x: 1 } }]), {
      cursor: { firstBatch: [], ns: 'test.source' },
      ok: 1,
    })
    const written = [
      { _id: 1, x: 3 },
      { _id: 2, x: 50 },
      { _id: 3, x: 120 },
    ]
    t.same(await all(cluster), written)
    await ok(cluster, { createIndexes: 'target', indexes: [{ key: { x: 1 }, name: 'by_x', unique: true }] })
    await ok(cluster, { aggregate: 'source', pipeline: [{ $match: { _id: 0 } }, { $out: 'target' }], cursor: {} })
    t.same(
      (await all(cluster)).map(({ _id }) => _id as unknown),
      [0],
    )
    const indexes = (await ok(cluster, { listIndexes: 'target' }))['cursor'].firstBatch as Document[]
    t.same(
      indexes.map(({ name }) => name as string),
      ['_id_', 'by_x'],
      'indexes stay',
    )
    // If the target rejects the result, it does not change.
    t.match(await aggregate(cluster, { $out: 'target' }, [{ $set: { x: 1 } }]), { code: 11000 })
    t.same(
      (await all(cluster)).map(({ _id }) => _id as unknown),
      [0],
    )
    t.notOk(
      (await names(cluster)).some((name) => name.startsWith('tmp.')),
      'nothing temporary stays',
    )
    await ok(cluster, { aggregate: 'source', pipeline: [{ $match: { _id: 77 } }, { $out: 'target' }], cursor: {} })
    t.same(await all(cluster), [], 'also nothing is written')
    await ok(cluster, { aggregate: 'source', pipeline: [{ $out: { db: 'other', coll: 'copy' } }], cursor: {} })
    t.equal((await all(cluster, 'copy', 'other')).length, 4)
  }
})

t.test('$out can replace the collection that it reads', async (t) => {
  const cluster = await filled([])
  await ok(cluster, { aggregate: 'source', pipeline: [{ $match: { x: { $gt: 10 } } }, { $out: 'source' }], cursor: {} })
  t.same(
    (await all(cluster, 'source')).map(({ _id }) => _id as unknown),
    [2, 3],
  )
})

t.test('$out refuses sharded and capped collections', async (t) => {
  const cluster = await filled([target])
  t.match(await aggregate(cluster, { $out: 'target' }), {
    code: 28769,
    errmsg: '$out to a sharded collection is not allowed',
  })
  await ok(cluster, { create: 'round', capped: true, size: 4096 })
  t.match(await aggregate(cluster, { $out: 'round' }), {
    code: 17152,
    errmsg: "namespace 'test.round' is capped so it can't be used for $out",
  })
})

t.test('$merge applies whenMatched to existing documents and whenNotMatched to others', async (t) => {
  const existing = [
    { _id: 0, k: 0, v: 'old', kept: true },
    { _id: 1, k: 1, v: 'old' },
  ]
  const found = (v: unknown) => ({ _id: 0, k: 0, v, kept: true })
  const cases: [merge: Document, zero: Document | null, three: boolean, code?: number][] = [
    [{}, { ...found('new0'), x: -5 }, true],
    [{ whenMatched: 'merge', whenNotMatched: 'discard' }, { ...found('new0'), x: -5 }, false],
    [{ whenMatched: 'merge', whenNotMatched: 'fail' }, null, false, 13113],
    [{ whenMatched: 'replace' }, { _id: 0, x: -5, k: 0, v: 'new0' }, true],
    [{ whenMatched: 'replace', whenNotMatched: 'discard' }, { _id: 0, x: -5, k: 0, v: 'new0' }, false],
    [{ whenMatched: 'keepExisting' }, found('old'), true],
    [{ whenMatched: 'fail' }, null, true, 11000],
    [{ whenMatched: [{ $set: { v: { $concat: ['$v', '+', '$$new.v'] } } }] }, found('old+new0'), true],
    [{ let: { w: '$v' }, whenMatched: [{ $set: { v: '$$w' } }], whenNotMatched: 'discard' }, found('new0'), false],
  ]
  for (const sharded of [[], [source], [target], [source, target]]) {
    for (const [merge, zero, three, code] of cases) {
      const cluster = await filled(sharded)
      await ok(cluster, { insert: 'target', documents: existing })
      const reply = await aggregate(cluster, { $merge: { into: 'target', ...merge } })
      t.equal(reply['code'], code, `${JSON.stringify(merge)} ${String(reply['errmsg'])}`)
      const after = await all(cluster)
      if (zero !== null) t.same(after[0], zero, JSON.stringify(merge))
      if (code === undefined) t.same(after[3], three ? rows[3] : undefined, JSON.stringify(merge))
    }
  }
})

t.test('$merge matches documents by unique fields', async (t) => {
  const cluster = await filled([source])
  const on = (fields: unknown, more: Document = {}) => ({ $merge: { into: 'target', on: fields, ...more } })
  t.match(await aggregate(cluster, on('k')), {
    code: 51190,
    errmsg: 'Cannot find index to verify that join fields will be unique',
  })
  await ok(cluster, {
    createIndexes: 'target',
    indexes: [{ key: { k: 1 }, name: 'partly', unique: true, partialFilterExpression: { k: 1 } }],
  })
  t.match(await aggregate(cluster, on('k')), { code: 51190 })
  await ok(cluster, {
    createIndexes: 'target',
    indexes: [
      { key: { k: 1, l: -1 }, name: 'both', unique: true },
      { key: { s: 1 }, name: 's', unique: true, sparse: true },
    ],
  })
  t.match(await aggregate(cluster, on('k')), { code: 51190 })
  await ok(cluster, { insert: 'target', documents: [{ _id: 'mine', k: 1, l: 1, s: 9 }] })
  const merged = [{ $match: { _id: 1 } }, { $project: { _id: 0, k: 1, l: { $literal: 1 }, v: 1 } }]
  await ok(cluster, { aggregate: 'source', pipeline: [...merged, on(['l', 'k'])], cursor: {} })
  t.same(await all(cluster), [{ _id: 'mine', k: 1, l: 1, s: 9, v: 'new1' }])
  t.match(await aggregate(cluster, on(['k', 'l']), [{ $match: { _id: 1 } }, { $set: { l: 1 } }]), {
    code: 66,
    errmsg:
      /^Executor error during aggregate command on namespace: test\.source :: caused by :: \$merge failed to update the matching document, did you attempt to modify the _id or the shard key\? :: caused by :: /,
  })
  t.match(await aggregate(cluster, on(['k', 'l']), [{ $set: { l: [1] } }]), {
    code: 51185,
    errmsg:
      "Executor error during aggregate command on namespace: test.source :: caused by :: $merge write error: 'on' field 'l' is an array",
  })
  t.match(await aggregate(cluster, on('s'), [{ $project: { _id: 0, k: 1 } }]), { code: 51132 })
  t.match(
    await aggregate(cluster, on('_id', { whenMatched: 'fail' }), [{ $match: { _id: 1 } }, { $set: { _id: 'mine' } }]),
    {
      code: 11000,
      errmsg:
        /^Executor error during aggregate command on namespace: test\.source :: caused by :: \$merge with whenMatched: fail found an existing document with the same values for the 'on' fields :: caused by :: E11000/,
    },
  )
})

t.test('documents without _id get one', async (t) => {
  const cluster = await filled([])
  await ok(cluster, {
    aggregate: 'source',
    pipeline: [{ $project: { _id: 0, x: 1 } }, { $merge: 'target' }],
    cursor: {},
  })
  const written = await all(cluster)
  t.equal(written.length, 4)
  t.ok(written.every(({ _id }) => (_id as Document)['_bsontype'] === 'ObjectId'))
})

t.test('many documents are written in several commands', async (t) => {
  const cluster = await filled([])
  const pipeline = [
    { $match: { _id: { $lte: 1 } } },
    { $set: { n: { $range: [0, 1200] } } },
    { $unwind: '$n' },
    { $project: { _id: { $concat: [{ $toString: '$_id' }, ':', { $toString: '$n' }] } } },
  ]
  for (const stage of [{ $out: 'target' }, { $merge: 'merged' }])
    await ok(cluster, { aggregate: 'source', pipeline: [...pipeline, stage], cursor: {} })
  for (const collection of ['target', 'merged']) t.equal((await ok(cluster, { count: collection }))['n'], 2400)
})

t.test('the router applies the default collation of unsharded collections', async (t) => {
  const cluster = await realCluster([target])
  await ok(cluster, { create: 'source', collation: { locale: 'en', strength: 2 } })
  await ok(cluster, { insert: 'source', documents: ['b', 'A', 'a'].map((w, _id) => ({ _id, w })) })
  await ok(cluster, { insert: 'target', documents: [{ _id: 'B', k: 1, w: 'B' }] })
  const found = await drain(cluster, {
    aggregate: 'source',
    pipeline: [
      { $lookup: { from: 'target', localField: 'w', foreignField: 'w', as: 't' } },
      { $sort: { w: 1, _id: 1 } },
      { $project: { n: { $size: '$t' } } },
    ],
    cursor: {},
  })
  t.same(found, [
    { _id: 1, n: 0 },
    { _id: 2, n: 0 },
    { _id: 0, n: 1 },
  ])
})

t.test('a pipeline on a missing database reads and writes nothing', async (t) => {
  const cluster = await filled([])
  const reply = decode(await cluster.runRaw({ aggregate: 'c', pipeline: [{ $out: 'd' }], cursor: {}, $db: 'none' }))
  t.match(reply, { cursor: { firstBatch: [] }, ok: 1 })
})
