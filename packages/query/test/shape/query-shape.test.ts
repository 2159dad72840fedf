import { decode, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { queryShape, queryShapeHash } from '../../src/index.js'
import { codeOf } from '../support/helpers.js'

const shapeOf = (command: Document): Document => decode(queryShape(encode(command), 'shop')!)
const filterOf = (filter: Document): Document => shapeOf({ find: 'c', filter })['filter']
const stageOf = (stage: Document): Document => shapeOf({ aggregate: 'c', pipeline: [stage] })['pipeline'][0]

t.test('a filter has types instead of values', async (t) => {
  const cases: [filter: Document, shape: Document][] = [
    [{}, {}],
    [{ a: 5 }, { a: { $eq: '?number' } }],
    [{ a: 5, b: 'x' }, { $and: [{ a: { $eq: '?number' } }, { b: { $eq: '?string' } }] }],
    [{ a: { $gte: 1, $lt: 2 } }, { $and: [{ a: { $gte: '?number' } }, { a: { $lt: '?number' } }] }],
    [{ a: [] }, { a: { $eq: '[]' } }],
    [{ a: [1, 2] }, { a: { $eq: '?array<?number>' } }],
    [{ a: [1, 'x'] }, { a: { $eq: '?array<>' } }],
    [{ a: [[1], ['x']] }, { a: { $eq: '?array<?array>' } }],
    [{ a: { b: 1 } }, { a: { $eq: '?object' } }],
    [{ a: { $in: [1, 2, 3] } }, { a: { $in: '?array<?number>' } }],
    [{ a: { $in: ['x', /y/] } }, { a: { $in: '?array<>' } }],
    [{ a: /x/i }, { a: { $regex: '?string', $options: '?string' } }],
    [{ a: /x/ }, { a: { $regex: '?string' } }],
    [{ a: { $mod: [2, 0] } }, { a: { $mod: ['?number', '?number'] } }],
    [{ a: { $exists: true } }, { a: { $exists: '?bool' } }],
    [{ a: { $size: 2 } }, { a: { $size: '?number' } }],
    [{ a: { $bitsAllSet: 50 } }, { a: { $bitsAllSet: '?array<?number>' } }],
    [{ a: { $not: { $gt: 1.5 } } }, { a: { $not: { $gt: '?number' } } }],
    [{ $or: [{ a: 1 }, { b: null }] }, { $or: [{ a: { $eq: '?number' } }, { b: { $eq: '?null' } }] }],
    [{ $nor: [{ a: { $lt: 1 } }] }, { $nor: [{ a: { $lt: '?number' } }] }],
    [{ a: { $elemMatch: { $gt: 5, $lt: 10 } } }, { a: { $elemMatch: { $gt: '?number', $lt: '?number' } } }],
    [
      { a: { $elemMatch: { b: 5, c: { $exists: true } } } },
      { a: { $elemMatch: { $and: [{ b: { $eq: '?number' } }, { c: { $exists: '?bool' } }] } } },
    ],
    [{ $expr: { $eq: ['$a', 2] } }, { $expr: { $eq: ['$a', '?number'] } }],
    [{ $alwaysTrue: 1 }, { $alwaysTrue: '?number' }],
  ]
  for (const [filter, shape] of cases) t.same(filterOf(filter), shape, JSON.stringify(filter))
})

t.test('the shape of a find has the arguments that belong to it', async (t) => {
  t.same(
    shapeOf({
      find: 'c',
      filter: { a: 1 },
      projection: { b: 1, 'c.d': 1 },
      sort: { b: -1.5, s: { $meta: 'textScore' } },
      min: { a: 1 },
      max: { a: 9 },
      limit: 5,
      skip: 0,
      let: { x: 3 },
      collation: { locale: 'fr' },
      hint: { a: 1 },
      batchSize: 7,
      singleBatch: true,
      comment: 'no part of it',
      maxTimeMS: 5,
    }),
    {
      cmdNs: { db: 'shop', coll: 'c' },
      collation: { locale: 'fr' },
      let: { x: '?number' },
      command: 'find',
      filter: { a: { $eq: '?number' } },
      projection: { b: true, 'c.d': true, _id: true },
      max: { a: '?number' },
      min: { a: '?number' },
      sort: { b: -1, s: { $meta: 'textScore' } },
      limit: '?number',
      singleBatch: true,
    },
  )
  const projected = (projection: Document) => shapeOf({ find: 'c', projection })['projection']
  t.same(projected({ a: 0 }), { a: false })
  t.same(projected({ a: 1, _id: 0 }), { a: true, _id: false })
  t.same(projected({ a: { $slice: 5 } }), { a: { $slice: '?number' } })
  t.same(projected({ a: { $elemMatch: { b: 1 } } }), { a: { $elemMatch: { b: { $eq: '?number' } } } })
  t.same(projected({ a: { $add: ['$b', 1] } }), { a: { $add: ['$b', '?number'] }, _id: true })
})

t.test('the shape of a distinct has its key', async (t) => {
  const cmdNs = { db: 'shop', coll: 'c' }
  t.same(shapeOf({ distinct: 'c', key: 'a', query: { b: 1 } }), {
    cmdNs,
    command: 'distinct',
    key: 'a',
    query: { b: { $eq: '?number' } },
  })
  t.same(shapeOf({ distinct: 'c', key: 'a', query: {} }), { cmdNs, command: 'distinct', key: 'a' })
})

t.test('stages keep names, paths and directions', async (t) => {
  const cases: [stage: Document, shape: Document][] = [
    [{ $match: { a: 1 } }, { $match: { a: { $eq: '?number' } } }],
    [{ $limit: 5 }, { $limit: '?number' }],
    [{ $sort: { a: 1, b: -1 } }, { $sort: { a: 1, b: -1 } }],
    [
      { $group: { _id: '$a', n: { $sum: 1 }, t: { $sum: '$b' } } },
      { $group: { _id: '$a', n: { $sum: '?number' }, t: { $sum: '$b' } } },
    ],
    [{ $addFields: { x: { $literal: '$5' }, y: [1, 2] } }, { $addFields: { x: '?string', y: '?array<?number>' } }],
    [{ $addFields: { x: { $in: ['$a', [1, 2]] } } }, { $addFields: { x: { $in: ['$a', '?array<?number>'] } } }],
    [
      { $addFields: { x: { $map: { input: '$a', as: 'e', in: { $add: ['$$e', 1] } } } } },
      { $addFields: { x: { $map: { input: '$a', as: 'e', in: { $add: ['$$e', '?number'] } } } } },
    ],
    [{ $project: { a: 1, b: '$c' } }, { $project: { a: true, b: '$c', _id: true } }],
    [
      { $lookup: { from: 'd', let: { x: '$a' }, pipeline: [{ $match: { b: 1 } }], as: 'e' } },
      { $lookup: { from: 'd', let: { x: '$a' }, pipeline: [{ $match: { b: { $eq: '?number' } } }], as: 'e' } },
    ],
    [{ $facet: { x: [{ $limit: 1 }] } }, { $facet: { x: [{ $limit: '?number' }] } }],
    [{ $unwind: { path: '$a', includeArrayIndex: 'i' } }, { $unwind: { path: '$a', includeArrayIndex: 'i' } }],
    [{ $sample: { size: 3 } }, { $sample: { size: '?number' } }],
    [{ $unionWith: 'd' }, { $unionWith: 'd' }],
    [{ $indexStats: {} }, { $indexStats: {} }],
  ]
  for (const [stage, shape] of cases) t.same(stageOf(stage), shape, JSON.stringify(stage))
  t.same(shapeOf({ aggregate: 1, pipeline: [], allowDiskUse: true }), {
    cmdNs: { db: 'shop', coll: '$cmd.aggregate' },
    command: 'aggregate',
    pipeline: [],
    allowDiskUse: true,
  })
})

t.test('D612: stages and schemas are in a shape as they are written', async (t) => {
  const one = { $addFields: { x: { $abs: '$a' } } }
  t.same(stageOf(one), one)
  const schema = { $jsonSchema: { required: ['a'] } }
  t.same(filterOf(schema), schema)
})

t.test('the hash of a shape depends on nothing else', async (t) => {
  const hashOf = (command: Document, db = 'shop') => queryShapeHash(queryShape(encode(command), db)!)
  const hash = hashOf({ find: 'c', filter: { a: 1 } })
  t.match(hash, /^[0-9A-F]{64}$/)
  t.equal(hashOf({ find: 'c', filter: { a: { $eq: 7.5 } }, batchSize: 3 }), hash)
  for (const other of [
    { find: 'd', filter: { a: 1 } },
    { find: 'c', filter: { a: 'x' } },
    { find: 'c', filter: { a: 1 }, sort: { a: 1 } },
    { find: 'c', filter: { a: 1 }, limit: 1 },
    { find: 'c', filter: { a: 1 }, collation: { locale: 'de' } },
  ])
    t.not(hashOf(other), hash, JSON.stringify(other))
  t.not(hashOf({ find: 'c', filter: { a: 1 } }, 'other'), hash)
})

t.test('other commands have no shape, and an invalid filter is an error', async (t) => {
  t.equal(queryShape(encode({ count: 'c' }), 'shop'), null)
  t.equal(
    codeOf(() => queryShape(encode({ find: 'c', filter: { $nope: 1 } }), 'shop')),
    2,
  )
})
