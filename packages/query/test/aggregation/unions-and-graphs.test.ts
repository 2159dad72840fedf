import { encode, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { compilePipeline } from '../../src/index.js'
import { drain, FakeReader, join } from '../support/foreign.js'
import { context, json } from '../support/helpers.js'

t.test('$unionWith appends the results of a pipeline over another collection', (t) => {
  const f = [{ _id: 1 }, { _id: 2 }, { _id: 3 }]
  const ids = (...stages: Document[]) => join(stages, [{ _id: 0 }], { f }).map(({ _id }) => _id)
  t.same(ids({ $unionWith: 'f' }), [0, 1, 2, 3])
  t.same(
    ids({ $unionWith: { coll: 'f', pipeline: [{ $match: { _id: { $gt: 1 } } }] } }, { $sort: { _id: -1 } }),
    [3, 2, 0],
  )
  t.same(ids({ $unionWith: 'missing' }), [0])
  t.same(ids({ $unionWith: { pipeline: [{ $documents: [{ _id: 9 }] }] } }), [0, 9])
  t.same(ids({ $unionWith: { coll: 'f', pipeline: [{ $unionWith: 'f' }, { $match: { _id: 1 } }] } }), [0, 1, 1])
  const reader = new FakeReader({ f })
  const run = compilePipeline([encode({ $unionWith: 'f' }), encode({ $limit: 2 })], context, { db: 'test' }).open()
  t.equal(drain(run, [encode({ _id: 0 })], reader).length, 2)
  t.equal(reader.requests.length, 1, 'a collection beyond the limit is not read')
  t.end()
})

t.test('$graphLookup finds all documents that can be reached', (t) => {
  const people = [
    { _id: 1, name: 'dev' },
    { _id: 2, name: 'eliot', boss: 'dev' },
    { _id: 3, name: 'ron', boss: 'eliot' },
    { _id: 4, name: 'andrew', boss: 'eliot', away: true },
    { _id: 5, name: 'asya', boss: 'ron' },
    { _id: 6, name: 'loop', boss: 'loop' },
  ]
  const search = (graph: Document, start: Document = { who: 'asya' }) => {
    const stage = {
      $graphLookup: {
        from: 'p',
        startWith: '$who',
        connectFromField: 'boss',
        connectToField: 'name',
        as: 'up',
        ...graph,
      },
    }
    return (join([stage], [start], { p: people })[0]!.up as Document[]).map(({ _id, d }) =>
      d === undefined ? _id : [_id, Number(d)],
    )
  }
  t.same(search({ depthField: 'd' }), [
    [5, 0],
    [3, 1],
    [2, 2],
    [1, 3],
  ])
  t.same(search({ maxDepth: 1 }), [5, 3])
  t.same(search({ maxDepth: Long.fromNumber(0) }), [5])
  t.same(search({ startWith: ['asya', 'andrew'] }), [4, 5, 2, 3, 1])
  t.same(search({ startWith: '$who' }, { who: 'loop' }), [6], 'cycles end')
  t.same(search({}, {}), [], 'a missing start finds nothing')
  t.same(search({ startWith: null, connectToField: 'boss' }), [], 'null is not a missing field')
  t.same(
    search({
      startWith: 'dev',
      connectFromField: 'name',
      connectToField: 'boss',
      restrictSearchWithMatch: { away: { $ne: true } },
    }),
    [2, 3, 5],
  )
  const [result] = join(
    [
      {
        $graphLookup: {
          from: 'p',
          startWith: 'dev',
          connectFromField: 'x',
          connectToField: 'name',
          as: 'up',
          depthField: 'd',
        },
      },
    ],
    [{}],
    { p: people },
  )
  t.equal(json(result!), json({ up: [{ _id: 1, name: 'dev', d: Long.fromNumber(0) }] }))
  t.end()
})

t.test('joins work inside facets', (t) => {
  const facet = {
    $facet: {
      all: [{ $count: 'n' }],
      joined: [
        { $lookup: { from: 'f', localField: 'k', foreignField: 'k', as: 'j' } },
        { $match: { 'j.0': { $exists: true } } },
        { $project: { j: 1 } },
      ],
      more: [{ $unionWith: 'f' }, { $limit: 3 }, { $project: { k: 1, _id: 0 } }],
    },
  }
  const result = join(
    [{ $match: {} }, facet, { $addFields: { done: true } }],
    [
      { _id: 1, k: 1 },
      { _id: 2, k: 2 },
    ],
    { f: [{ _id: 5, k: 2 }] },
  )
  t.same(result, [
    { all: [{ n: 2 }], joined: [{ _id: 2, j: [{ _id: 5, k: 2 }] }], more: [{ k: 1 }, { k: 2 }, { k: 2 }], done: true },
  ])
  t.end()
})
