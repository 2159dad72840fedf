import { encode, toRawValue } from '@shardlab/bson'
import t from 'tap'
import { compileExpression, compileFilter, languageOf } from '../../src/index.js'
import { aggregate, context, failure, project, update } from '../support/helpers.js'

const failing = { $add: ['age', 1] }
const reason = '$add only supports numeric or date types, not string'

t.test('a constant expression that fails is reported as a failure to optimize the pipeline', (t) => {
  const pipelines = [
    [{ $project: { a: failing } }],
    [{ $group: { _id: failing } }],
    [{ $group: { _id: 1, n: { $sum: failing } } }],
    [{ $facet: { a: [{ $set: { a: failing } }] } }],
    [{ $set: { a: { $cond: [false, failing, 1] } } }],
    [{ $set: { a: { $map: { input: '$b', in: failing } } } }],
  ]
  for (const pipeline of pipelines)
    t.match(
      failure(() => aggregate(pipeline, [])),
      { code: 14, message: `Failed to optimize pipeline :: caused by :: ${reason}` },
      JSON.stringify(pipeline),
    )
  const inMatch = 'Failed to optimize pipeline :: caused by :: Failed to optimize expression :: caused by :: '
  t.match(
    failure(() => aggregate([{ $match: { $expr: failing } }], [])),
    { code: 14, message: `${inMatch}${reason}` },
  )
  t.match(
    failure(() => aggregate([{ $set: { a: failing } }, { $nonsense: 1 }], [])),
    { code: 40324 },
    'stages are parsed before the pipeline is optimized',
  )
  t.match(
    failure(() => aggregate([{ $set: { a: { $add: ['$b', 1] } } }], [{ b: 'x' }])),
    { code: 14, message: reason },
    'an expression that reads the document',
  )
  t.end()
})

t.test('a constant expression of a filter that fails is reported at each level of the filter', (t) => {
  const cause = 'Failed to optimize expression :: caused by :: '
  const filters = [
    { filter: { $expr: failing }, causes: 1 },
    { filter: { a: 1, $expr: failing }, causes: 2 },
    { filter: { $and: [{ a: 1 }, { $expr: failing }] }, causes: 2 },
    { filter: { b: 1, $or: [{ $nor: [{ $expr: failing }] }, { a: 1 }] }, causes: 4 },
  ]
  for (const { filter, causes } of filters)
    t.match(
      failure(() => compileFilter(encode(filter), context)),
      { code: 14, message: `${cause.repeat(causes)}${reason}` },
      JSON.stringify(filter),
    )
  t.match(
    failure(() => compileFilter(encode({ $expr: failing }), { ...context, language: languageOf('4.0.28') })),
    { code: 14, message: reason },
  )
  t.end()
})

t.test('a constant expression of an update fails only for a document that evaluates it', (t) => {
  t.match(
    failure(() => update([{ $set: { a: failing } }], { _id: 1 })),
    { code: 14, message: reason },
  )
  t.equal(
    failure(() => update([{ $set: { a: { $cond: ['$b', failing, 1] } } }], { _id: 1, b: false })),
    null,
  )
  t.end()
})

t.test('constant expressions outside of pipelines fail when they are compiled', (t) => {
  t.match(
    failure(() => compileExpression(toRawValue(failing), context)),
    { code: 14, message: reason },
  )
  t.match(
    failure(() => project({ a: { $slice: ['x', 'y'] } }, {})),
    { code: 28724, message: 'First argument to $slice must be an array, but is of type: string' },
    '$slice of find with arguments of the expression',
  )
  t.match(
    failure(() => project({ a: { $slice: ['x'] } }, {})),
    { message: /^Invalid \$slice syntax\. / },
  )
  t.end()
})
