import type { Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

async function indexed(): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'a_1_b_1' }] })
  await node.ok({
    insert: 'c',
    documents: [...Array(40).keys()].map((i) => ({ _id: i, a: i % 4, b: i % 5, c: { d: i } })),
  })
  return node
}

const stagesOf = (plan: Document | undefined): string[] =>
  plan === undefined ? [] : [plan['stage'] as string, ...stagesOf(plan['inputStage'] as Document | undefined)]

async function planOf(node: NodeUnderTest, pipeline: Document[]): Promise<Document> {
  const reply = await node.ok({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity: 'queryPlanner' })
  const [first] = (reply['stages'] ?? [{ $cursor: reply }]) as {
    $cursor: { queryPlanner: { winningPlan: Document } }
  }[]
  return first!.$cursor.queryPlanner.winningPlan
}

t.test('stages that need only fields of an index read no documents', async (t) => {
  const node = await indexed()
  const match = { $match: { a: 1 } }
  const group = { $group: { _id: '$b', n: { $sum: 1 } } }
  const cases: readonly (readonly [Document[], string[], Document | undefined])[] = [
    [[match, group], ['PROJECTION_COVERED', 'IXSCAN'], { b: 1, _id: 0 }],
    [[match, { $project: { b: 1, _id: 0 } }], ['PROJECTION_COVERED', 'IXSCAN'], { b: true, _id: false }],
    [[match, { $project: { b: 1 } }], ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN'], { _id: true, b: true }],
    [
      [match, { $group: { _id: '$b', d: { $max: '$c.d' } } }],
      ['PROJECTION_DEFAULT', 'FETCH', 'IXSCAN'],
      { b: 1, 'c.d': 1, _id: 0 },
    ],
    [[group], ['PROJECTION_SIMPLE', 'COLLSCAN'], { b: 1, _id: 0 }],
    [[match, { $addFields: { x: 1 } }], ['FETCH', 'IXSCAN'], undefined],
    [
      [match, { $project: { x: { $add: ['$b', 1] } } }],
      ['PROJECTION_DEFAULT', 'FETCH', 'IXSCAN'],
      { x: { $add: ['$b', 1] } },
    ],
  ]
  for (const [pipeline, stages, transformBy] of cases) {
    const plan = await planOf(node, pipeline)
    t.same(stagesOf(plan), stages, JSON.stringify(pipeline))
    t.same(plan['transformBy'], transformBy)
  }
  const { stages } = await node.ok({
    explain: { aggregate: 'c', pipeline: [match, group], cursor: {} },
    verbosity: 'executionStats',
  })
  t.match((stages as Document[])[0], { $cursor: { executionStats: { totalDocsExamined: 0, totalKeysExamined: 10 } } })
})

t.test('covered pipelines return the results of a collection scan', async (t) => {
  const node = await indexed()
  const results = async (pipeline: Document[], hint?: Document) => {
    const { cursor } = await node.ok({ aggregate: 'c', pipeline, cursor: {}, ...(hint === undefined ? {} : { hint }) })
    return (cursor as { firstBatch: Document[] }).firstBatch.map((each) => JSON.stringify(each)).sort()
  }
  for (const rest of [
    [{ $group: { _id: '$b', n: { $sum: '$a' } } }],
    [{ $project: { b: 1, _id: 0 } }],
    [{ $project: { b: 1 } }],
    [{ $project: { c: 0 } }],
    [{ $project: { x: { $add: ['$a', '$c.d'] } } }],
    [{ $unset: ['c.d', 'a'] }],
    [{ $sort: { b: -1, _id: 1 } }, { $limit: 3 }, { $project: { b: 1 } }],
    [{ $sort: { b: -1 } }, { $group: { _id: '$a', first: { $first: '$b' } } }],
    [{ $replaceWith: { all: ['$a', '$b'] } }],
    [{ $sort: { _id: 1 } }, { $group: { _id: null, all: { $push: '$$ROOT' } } }],
    [{ $sortByCount: '$b' }],
    [{ $count: 'n' }],
  ] as Document[][]) {
    const pipeline = [{ $match: { a: { $gte: 2 } } }, ...rest]
    t.same(await results(pipeline), await results(pipeline, { $natural: 1 }), JSON.stringify(rest))
  }
})

t.test('a pipeline that only counts documents counts index keys', async (t) => {
  const node = await indexed()
  const count = { $count: 'n' }
  const cases: readonly (readonly [Document[], string[], number])[] = [
    [[{ $match: { a: 1 } }, count], ['COUNT_SCAN'], 10],
    [[{ $match: { a: { $gte: 2 } } }, { $group: { _id: 1, n: { $sum: 1 } } }], ['COUNT_SCAN'], 20],
    [[{ $match: { a: { $in: [1, 3] } } }, count], ['IXSCAN'], 20],
    [[{ $match: { a: 1, 'c.d': { $lt: 20 } } }, count], ['FETCH', 'IXSCAN'], 5],
    [[{ $match: { a: 1 } }, { $limit: 3 }, count], ['LIMIT', 'IXSCAN'], 3],
    [[{ $match: { a: 1 } }, { $addFields: { x: 1 } }, count], ['COUNT_SCAN'], 10],
    [[count], ['COLLSCAN'], 40],
    [[{ $match: { a: 1 } }, { $group: { _id: '$b', n: { $sum: 1 } } }, count], ['PROJECTION_COVERED', 'IXSCAN'], 5],
  ]
  for (const [pipeline, stages, n] of cases) {
    t.same(stagesOf(await planOf(node, pipeline)), stages, JSON.stringify(pipeline))
    const { cursor } = await node.ok({ aggregate: 'c', pipeline, cursor: {} })
    t.equal((cursor as { firstBatch: Document[] }).firstBatch[0]!['n'], n, JSON.stringify(pipeline))
  }
  const { stages } = await node.ok({
    explain: { aggregate: 'c', pipeline: cases[0]![0], cursor: {} },
    verbosity: 'executionStats',
  })
  t.match((stages as Document[])[0], { $cursor: { executionStats: { totalDocsExamined: 0, totalKeysExamined: 11 } } })
  await node.ok({ insert: 'c', documents: [{ _id: 'm', a: [1, 2, 3] }] })
  const { cursor } = await node.ok({ aggregate: 'c', pipeline: [{ $match: { a: { $gte: 1 } } }, count], cursor: {} })
  t.same((cursor as { firstBatch: Document[] }).firstBatch, [{ n: 31 }], 'an array counts once')
})
