import t from 'tap'
import type { Document } from '@shardlab/bson'
import { NodeUnderTest } from './support/harness.js'

const rows = Array.from({ length: 20 }, (_, _id) => ({ _id, a: _id % 4, b: 19 - _id, w: _id % 2 === 0 ? 'x' : 'X' }))

async function filled(version: '5.0' | '7.0' | '8.0' = '8.0'): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ insert: 'c', documents: rows })
  return node
}

async function run(node: NodeUnderTest, pipeline: Document[], options: Document = {}): Promise<Document[]> {
  const { cursor } = await node.ok({ aggregate: 'c', pipeline, cursor: { batchSize: 1000 }, ...options })
  return (cursor as { firstBatch: Document[] }).firstBatch
}

t.test('leading stages are planned: an index provides the order', async (t) => {
  const node = await filled()
  const pipeline = [
    { $match: { b: { $gt: 3 } } },
    { $sort: { b: -1 } },
    { $skip: 1 },
    { $limit: 3 },
    { $project: { b: 1 } },
  ]
  const expected = [1, 2, 3].map((_id) => ({ _id, b: 19 - _id }))
  t.same(await run(node, pipeline), expected)
  await node.ok({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1' }] })
  t.same(await run(node, pipeline), expected)
  const plan = JSON.stringify(
    await node.ok({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity: 'queryPlanner' }),
  )
  t.match(plan, /IXSCAN/)
  t.notMatch(plan, /"stage":"SORT"/)
})

t.test('a filter after other stages is also planned', async (t) => {
  const node = await filled()
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  const pipeline = [{ $addFields: { z: 1 } }, { $match: { a: 2, z: 1 } }, { $count: 'n' }]
  t.same(await run(node, pipeline), [{ n: 5 }])
  t.match(
    JSON.stringify(await node.ok({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity: 'queryPlanner' })),
    /IXSCAN/,
  )
})

t.test('let, collation, hint and allowDiskUse apply to the pipeline', async (t) => {
  const node = await filled()
  const count = (filter: Document, options: Document) => run(node, [{ $match: filter }, { $count: 'n' }], options)
  t.same(await count({ $expr: { $eq: ['$a', '$$v'] } }, { let: { v: { $add: [1, 1] } } }), [{ n: 5 }])
  t.same(await count({ w: 'x' }, {}), [{ n: 10 }])
  t.same(await count({ w: 'x' }, { collation: { locale: 'en', strength: 2 } }), [{ n: 20 }])
  await node.ok({ create: 'd', collation: { locale: 'en', strength: 2 } })
  await node.ok({ insert: 'd', documents: rows })
  const own = { aggregate: 'd', pipeline: [{ $match: { w: 'x' } }, { $count: 'n' }], cursor: {} }
  t.match(await node.ok(own), { cursor: { firstBatch: [{ n: 20 }] } }, "the collection's own collation")
  t.match(await node.ok({ ...own, collation: { locale: 'simple' } }), { cursor: { firstBatch: [{ n: 10 }] } })
  t.match(await node.run({ aggregate: 'c', pipeline: [], cursor: {}, hint: 'nope' }), { ok: 0, code: 2 })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  t.equal((await run(node, [], { hint: 'a_1' })).length, 20)
  t.match(await node.run({ aggregate: 'c', pipeline: [{ $match: { $expr: '$$nope' } }], cursor: {} }), { code: 17276 })
})

t.test('D203 memory is unlimited if allowDiskUse is set', async (t) => {
  const text = 'x'.repeat(4 * 1024 * 1024)
  // This sort is not part of the plan.
  const pipeline = [{ $replaceWith: '$$ROOT' }, { $sort: { _id: 1 } }, { $count: 'n' }]
  const documents = Array.from({ length: 27 }, (_, _id) => ({ _id, s: text }))
  for (const version of ['5.0', '8.0'] as const) {
    const node = new NodeUnderTest({ version })
    for (let i = 0; i < documents.length; i += 3)
      await node.ok({ insert: 'many' }, { sequences: [['documents', documents.slice(i, i + 3)]] })
    const reply = await node.run({ aggregate: 'many', pipeline, cursor: {} })
    t.equal(reply['code'], version === '5.0' ? 292 : undefined)
    const other = await node.run({ aggregate: 'many', pipeline, cursor: {}, allowDiskUse: version === '5.0' })
    t.equal(other['code'], version === '5.0' ? undefined : 292)
  }
})

t.test('errors of documents have the prefix of the server', async (t) => {
  const pipeline = [{ $project: { v: { $divide: [1, '$a'] } } }]
  t.match(await (await filled('8.0')).run({ aggregate: 'c', pipeline, cursor: {} }), {
    code: 2,
    errmsg: "Executor error during aggregate command on namespace: test.c :: caused by :: can't $divide by zero",
  })
  t.match(await (await filled('7.0')).run({ aggregate: 'c', pipeline, cursor: {} }), {
    errmsg: "PlanExecutor error during aggregation :: caused by :: can't $divide by zero",
  })
})

t.test('joins read collections and views of the node', async (t) => {
  const node = await filled()
  await node.ok({
    insert: 'f',
    documents: [
      { _id: 'p', a: 1 },
      { _id: 'q', a: 1 },
      { _id: 'r', a: 3 },
    ],
  })
  await node.ok({
    create: 'v',
    viewOn: 'f',
    pipeline: [
      { $match: { a: 1 } },
      { $lookup: { from: 'c', localField: 'a', foreignField: 'a', as: 'same' } },
      { $set: { same: { $size: '$same' } } },
    ],
  })
  const joined = async (from: string) =>
    (
      await run(node, [
        { $match: { _id: { $lt: 4 } } },
        { $lookup: { from, localField: 'a', foreignField: 'a', as: 'j' } },
      ])
    ).map(({ j }) => (j as Document[]).map(({ _id }) => _id as unknown))
  t.same(await joined('f'), [[], ['p', 'q'], [], ['r']])
  t.same(await joined('v'), [[], ['p', 'q'], [], []], 'a view')
  t.same(await joined('nothing'), [[], [], [], []])
  t.same(
    (await run(node, [{ $match: { _id: 1 } }, { $unionWith: 'v' }])).map(({ same }) => same as unknown),
    [undefined, 5, 5],
  )
  await node.ok({ createIndexes: 'f', indexes: [{ key: { a: -1 }, name: 'a' }] })
  t.same(await joined('f'), [[], ['p', 'q'], [], ['r']], 'the same with an index')
  const { cursor } = await node.ok({ aggregate: 'c', pipeline: [{ $unionWith: 'f' }], cursor: { batchSize: 1 } })
  await node.ok({ drop: 'f' })
  const more = await node.ok({ getMore: (cursor as Document)['id'], collection: 'c', batchSize: 100 })
  t.equal((more['cursor'] as { nextBatch: Document[] }).nextBatch.length, 22, 'a cursor keeps its snapshot')
})

t.test('$documents is a source, and misplaced sources are refused', async (t) => {
  const node = await filled()
  t.match(await node.ok({ aggregate: 1, pipeline: [{ $documents: [{ a: 1 }] }], cursor: {} }), {
    cursor: { firstBatch: [{ a: 1 }], ns: 'test.$cmd.aggregate' },
  })
  const documents = { pipeline: [{ $documents: [{ b: 2 }] }] }
  const joined = await node.ok({
    aggregate: 1,
    pipeline: [{ $documents: [{ a: 1 }] }, { $lookup: { ...documents, as: 'joined' } }, { $unionWith: documents }],
    cursor: {},
  })
  t.match(joined, { cursor: { firstBatch: [{ a: 1, joined: [{ b: 2 }] }, { b: 2 }] } }, 'joins without a collection')
  const cases: [command: Document, code: number][] = [
    [{ aggregate: 1, pipeline: [] }, 73],
    [{ aggregate: 1, pipeline: [{ $match: {} }] }, 73],
    [{ aggregate: 'c', pipeline: [{ $documents: [] }] }, 73],
    [{ aggregate: 'c', pipeline: [{ $match: {} }, { $indexStats: {} }] }, 40602],
  ]
  for (const [command, code] of cases)
    t.equal((await node.run({ ...command, cursor: {} }))['code'], code, JSON.stringify(command))
  t.match(await (await filled('5.0')).run({ aggregate: 1, pipeline: [{ $documents: [] }], cursor: {} }), {
    code: 40324,
    errmsg: "Unrecognized pipeline stage name: '$documents'",
  })
})

t.test('D200 the cached chunks are empty, and the oplog can be joined', async (t) => {
  const node = await filled()
  const joined = async (from: Document): Promise<unknown> => {
    const pipeline = [{ $match: { op: 'n' } }, { $project: { _id: 0, op: 1, msg: '$o.msg' } }, { $limit: 1 }]
    const [first] = await run(node, [{ $limit: 1 }, { $lookup: { from, pipeline, as: 'j' } }])
    return first!['j']
  }
  t.same(await joined({ db: 'config', coll: 'cache.chunks.test.c' }), [])
  t.same(await joined({ db: 'local', coll: 'oplog.rs' }), [{ op: 'n', msg: 'initiating set' }])
})

t.test('$out and $merge write into collections of the node', async (t) => {
  const node = await filled()
  const write = (stage: Document, more: Document = {}) =>
    node.run({ aggregate: 'c', pipeline: [{ $match: { a: 1 } }, { $project: { b: 1 } }, stage], cursor: {}, ...more })
  t.match(await write({ $out: 'o' }), { cursor: { firstBatch: [], ns: 'test.c' }, ok: 1 })
  t.same(
    (await node.all('o')).map(({ _id }) => _id as unknown),
    [1, 5, 9, 13, 17],
  )
  t.match(
    await write({
      $merge: { into: 'o', whenMatched: [{ $set: { b: { $add: ['$b', '$$new.b', '$$n'] } } }], let: { n: 100 } },
    }),
    {
      ok: 1,
    },
  )
  t.same((await node.all('o'))[0], { _id: 1, b: 136 })
  t.match(await write({ $merge: { into: 'o', on: 'b' } }), { code: 51183 })
  t.match(await write({ $merge: { into: 'o', whenMatched: 'fail' } }), { code: 11000 })
  await node.ok({ collMod: 'o', validator: { b: { $lt: 0 } } })
  t.match(await write({ $merge: 'o' }), { code: 121 })
  t.match(await write({ $merge: 'o' }, { bypassDocumentValidation: true }), { ok: 1 })
  t.match(await write({ $out: 'o' }), { code: 121 }, 'the validator stays')
  t.equal((await node.all('o')).length, 5)
  await node.ok({ create: 'v', viewOn: 'c', pipeline: [] })
  t.match(await write({ $out: 'v' }), { code: 166 })
})

t.test('a result larger than a document is refused', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1, s: 'x'.repeat(6_000_000) }] })
  const pipeline = (times: number) => [{ $project: { s: { $concat: Array.from({ length: times }, () => '$s') } } }]
  t.match(await node.run({ aggregate: 'c', pipeline: pipeline(3), cursor: {} }), {
    code: 10334,
    codeName: 'BSONObjectTooLarge',
    errmsg:
      /BSONObj size: 18000022 \(0x112A896\) is invalid\. Size must be between 0 and 16793600\(16MB\) First element: _id: 1$/,
  })
  t.match(await node.run({ aggregate: 'c', pipeline: pipeline(2), cursor: {} }), { ok: 1 })
  const kept = [...pipeline(3), { $project: { n: { $strLenBytes: '$s' } } }]
  t.match(
    await node.run({ aggregate: 'c', pipeline: kept, cursor: {} }),
    { ok: 1 },
    'documents between stages may be larger',
  )
})
