import { decode, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { compilePipeline } from '../../src/index.js'

const context = { now: () => 0, random: () => 0 }

function leading(stages: readonly Document[]) {
  const { leading } = compilePipeline(
    stages.map((stage) => encode(stage)),
    context,
  )
  return {
    projection: leading.projection === null ? null : decode(leading.projection.document),
    stageCount: leading.stageCount,
  }
}

t.test('a pipeline needs only the fields that its stages read', async (t) => {
  const group = { $group: { _id: '$g', n: { $sum: 1 } } }
  const cases: readonly (readonly [Document[], Document | null])[] = [
    [[], null],
    [[{ $group: { _id: null, n: { $sum: 1 } } }], null],
    [[group], { g: 1, _id: 0 }],
    [[{ $group: { _id: '$_id', n: { $sum: '$a' } } }], { a: 1, _id: 1 }],
    [[{ $group: { _id: '$_id.x', n: { $sum: '$a' } } }], { a: 1, _id: 1 }],
    [[{ $group: { _id: { a: '$a.b', b: '$a' }, n: { $push: { x: '$a.c', y: '$ab' } } } }], { a: 1, ab: 1, _id: 0 }],
    [[{ $group: { _id: '$$ROOT.a' } }], { a: 1, _id: 0 }],
    [[{ $group: { _id: '$$CURRENT.a' } }], { a: 1, _id: 0 }],
    [[{ $group: { _id: '$$ROOT' } }], null],
    [[{ $group: { _id: { $getField: 'a' } } }], null],
    [[{ $group: { _id: { $literal: '$a' }, n: { $max: '$b' } } }], { b: 1, _id: 0 }],
    [[{ $group: { _id: '$g', top: { $top: { sortBy: { s: -1 }, output: '$o' } } } }], { g: 1, o: 1, s: 1, _id: 0 }],
    [[{ $unwind: '$list' }, group], { g: 1, list: 1, _id: 0 }],
    [[{ $unwind: { path: '$list', includeArrayIndex: 'i' } }, group], { g: 1, list: 1, _id: 0 }],
    [[{ $addFields: { x: '$a', 'y.z': 1 } }, group], { a: 1, g: 1, y: 1, _id: 0 }],
    [[{ $lookup: { from: 'o', localField: 'l', foreignField: 'f', as: 'r' } }, group], { g: 1, l: 1, _id: 0 }],
    [
      [{ $unwind: '$list' }, { $match: { 'list.m': 1, $or: [{ 'list.o': 1 }, { $expr: '$p' }] } }, group],
      { g: 1, list: 1, p: 1, _id: 0 },
    ],
    [[{ $unwind: '$list' }, { $sort: { s: 1 } }, group], { g: 1, list: 1, s: 1, _id: 0 }],
    [[{ $unwind: '$list' }, { $project: { a: 1, 'b.c': '$d' } }], { a: 1, b: 1, d: 1, list: 1, _id: 1 }],
    [[{ $unwind: '$list' }, { $project: { a: 0 } }, group], { g: 1, list: 1, _id: 0 }],
    [[{ $replaceRoot: { newRoot: { x: '$a' } } }], { a: 1, _id: 0 }],
    [[{ $bucketAuto: { groupBy: '$a', buckets: 2, output: { m: { $max: '$b' } } } }], { a: 1, b: 1, _id: 0 }],
    [[{ $addFields: { x: '$a' } }], null],
    [[{ $facet: { a: [group] } }], null],
    [[{ $unionWith: 'o' }, group], null],
  ]
  for (const [stages, projection] of cases) {
    t.same(leading(stages), { projection, stageCount: 0 }, JSON.stringify(stages))
    const keys = projection === null ? [] : Object.keys(projection)
    t.same(Object.keys(leading(stages).projection ?? {}), keys)
  }
})

t.test('a plan does a $project at the start of the pipeline', async (t) => {
  const cases: readonly (readonly [Document[], Document | null, number])[] = [
    [[{ $project: { a: 1 } }], { _id: true, a: true }, 1],
    [[{ $project: { a: 1, _id: 0 } }], { a: true, _id: false }, 1],
    [[{ $project: { a: 0 } }], { a: false, _id: true }, 1],
    [[{ $project: { a: 0, _id: 0 } }], { _id: false, a: false }, 1],
    [[{ $unset: ['a', 'b'] }], { a: false, b: false, _id: true }, 1],
    [[{ $project: { 'a.b': 1 } }], { 'a.b': 1 }, 1],
    [[{ $match: { x: 1 } }, { $sort: { x: 1 } }, { $limit: 5 }, { $project: { a: 1 } }], { _id: true, a: true }, 4],
    [[{ $project: { x: '$a' } }], { x: '$a' }, 1],
    // Fields of documents that a limit drops are not computed.
    [[{ $limit: 5 }, { $unwind: '$l' }, { $project: { x: '$a' } }], { a: 1, l: 1, _id: 1 }, 1],
    [[{ $sort: { a: 1 } }, { $project: { x: '$a' } }], { a: 1, _id: 1 }, 1],
    [[{ $project: { _id: 0, x: { $literal: 1 } } }], null, 0],
    [[{ $unset: 'a' }, { $group: { _id: '$b' } }], { b: 1, _id: 0 }, 0],
  ]
  for (const [stages, projection, stageCount] of cases) {
    t.same(leading(stages), { projection, stageCount }, JSON.stringify(stages))
    t.same(Object.keys(leading(stages).projection ?? {}), Object.keys(projection ?? {}))
  }
})
