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
