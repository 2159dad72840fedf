import { decode, type Document } from '@shardlab/bson'
import t from 'tap'
import { filled, namesOf, stages } from './support/explained.js'

t.test('explain of aggregate shows the plan, then the other stages', async (t) => {
  const node = await filled('7.0')
  const pipeline = [{ $match: { a: 2 } }, { $group: { _id: '$a', n: { $sum: 1 } } }, { $sort: { n: 1 } }]
  const raw = await node.raw({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity: 'executionStats' })
  const reply = decode(raw)
  t.same(namesOf(reply), ['explainVersion', 'stages', 'serverInfo', 'serverParameters', 'command', 'ok'])
  const [cursor, group, sort] = reply['stages'] as Document[]
  t.same(stages(cursor!['$cursor'].queryPlanner.winningPlan), ['PROJECTION_COVERED', 'IXSCAN'])
  t.equal(cursor!['$cursor'].executionStats.nReturned, 4)
  t.equal(group!['nReturned'].toNumber(), 1)
  t.same(namesOf(group), ['$group', 'nReturned', 'executionTimeMillisEstimate'])
  t.match(sort, { $sort: { sortKey: { n: 1 } } })
  const pushed = await node.ok({
    explain: { aggregate: 'c', pipeline: [{ $match: { a: 2 } }, { $limit: 1 }], cursor: {} },
  })
  t.same(stages(pushed['queryPlanner'].winningPlan), ['LIMIT', 'FETCH', 'IXSCAN'], 'a pipeline that its plan covers')
  const joined = await node.ok({
    explain: {
      aggregate: 'c',
      pipeline: [
        { $match: { a: 2 } },
        { $lookup: { from: 'c', localField: 'a', foreignField: 'a', as: 'same' } },
        { $unwind: '$same' },
        { $project: { b: 1 } },
      ],
      cursor: {},
    },
    verbosity: 'executionStats',
  })
  t.same(
    (joined['stages'] as Document[]).map((stage) => [namesOf(stage)[0], stage['nReturned'].toNumber()]),
    [
      ['$cursor', 4],
      ['$lookup', 16],
      ['$project', 16],
    ],
  )
  t.same(joined['stages'][1].$lookup, {
    from: 'c',
    as: 'same',
    localField: 'a',
    foreignField: 'a',
    unwinding: { preserveNullAndEmptyArrays: false },
  })
  t.same(joined['stages'][2].$project, { _id: true, b: true })
  const ofNothing = await node.ok({
    explain: { aggregate: 'missing', pipeline: [{ $group: { _id: null } }], cursor: {} },
  })
  t.equal(ofNothing['stages'][0].$cursor.queryPlanner.winningPlan.stage, 'EOF')
  t.equal(ofNothing['stages'][1].nReturned.toNumber(), 0)
  const source = await node.ok({
    explain: { aggregate: 1, pipeline: [{ $documents: [{ x: 1 }, { x: 2 }] }, { $limit: 1 }], cursor: {} },
  })
  t.same(
    (source['stages'] as Document[]).map((stage) => [namesOf(stage)[0], stage['nReturned'].toNumber()]),
    [
      ['$documents', 1],
      ['$limit', 1],
    ],
  )
  t.match(
    await node.run({
      explain: {
        aggregate: 'c',
        pipeline: [{ $project: { x: { $divide: ['$a', 0] } } }, { $group: { _id: 1 } }],
        cursor: {},
      },
    }),
    { ok: 0, code: 2 },
    'what fails behind the plan fails the explain',
  )
  const own = await node.ok({ aggregate: 'c', pipeline, explain: true })
  t.same(
    (own['stages'] as Document[]).map((stage) => namesOf(stage)[0]),
    ['$cursor', '$group', '$sort'],
  )
  t.equal('executionStats' in own['stages'][0].$cursor, false, 'explain: true is queryPlanner')
  t.match(await node.run({ explain: { aggregate: 'c', pipeline, cursor: {}, explain: true } }), { code: 9 })
  t.match(await node.run({ explain: { aggregate: 'c', pipeline: [{ $out: 'o' }], cursor: {} } }), { code: 51184 })
  t.match(
    await node.run({ explain: { aggregate: 'c', pipeline: [{ $out: 'o' }], cursor: {} }, verbosity: 'queryPlanner' }),
    { ok: 1 },
  )
})

t.test('until 4.0 explain shows every pipeline as stages, without their results', async (t) => {
  const node = await filled('4.0')
  const explained = async (pipeline: Document[], verbosity = 'queryPlanner') => {
    const reply = await node.ok({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity })
    t.same(namesOf(reply), ['stages', 'ok'])
    return reply['stages'] as Document[]
  }
  const [whole] = await explained([{ $match: { a: 2 } }, { $limit: 1 }])
  t.same(namesOf(whole!['$cursor']), ['query', 'limit', 'queryPlanner'])
  t.match(whole, { $cursor: { query: { a: 2 }, limit: { low: 1 } } })
  const planner = namesOf(whole!['$cursor'].queryPlanner)
  t.same(planner, ['plannerVersion', 'namespace', 'indexFilterSet', 'parsedQuery', 'winningPlan', 'rejectedPlans'])
  const [cursor, group] = await explained(
    [{ $match: { b: 1 } }, { $sort: { b: 1 } }, { $group: { _id: '$a', n: { $sum: 1 } } }],
    'executionStats',
  )
  t.same(namesOf(cursor), ['$cursor'])
  t.same(namesOf(group), ['$group'])
  t.same(cursor!['$cursor'].fields, { a: 1, _id: 0 })
  const stats = cursor!['$cursor'].executionStats.executionStages as Document
  t.same(stages(stats), ['PROJECTION', 'SORT', 'SORT_KEY_GENERATOR', 'COLLSCAN'])
  const sort = stats['inputStage'] as Document
  t.same(namesOf(sort).slice(-4), ['sortPattern', 'memUsage', 'memLimit', 'inputStage'])
  t.equal(sort['invalidates'], 0)
  t.equal(sort['inputStage'].works, sort['inputStage'].inputStage.works + 1)
  const found = await node.ok({ explain: { find: 'c', filter: { a: 2 } }, verbosity: 'executionStats' })
  t.match(found, { executionStats: { executionStages: { inputStage: { seenInvalidated: 0 } } }, serverInfo: {} })
})

t.test('4.4 counts the results of stages and shows a pipeline that a plan answers like a find', async (t) => {
  const node = await filled('4.4')
  const explain = (pipeline: Document[]) =>
    node.ok({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity: 'executionStats' })
  t.match(await explain([{ $match: { a: 2 } }]), { queryPlanner: { queryHash: String }, serverInfo: {} })
  const [cursor, group] = (await explain([{ $match: { a: 2 } }, { $group: { _id: '$a' } }]))['stages'] as Document[]
  t.same(namesOf(cursor), ['$cursor', 'nReturned', 'executionTimeMillisEstimate'])
  t.same(namesOf(cursor!['$cursor']), ['queryPlanner', 'executionStats'])
  t.same(namesOf(group), ['$group', 'nReturned', 'executionTimeMillisEstimate'])
})
