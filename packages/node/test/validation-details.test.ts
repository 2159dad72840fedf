/** The cases are those of the server's tests of doc_validation_error. */
import type { Document } from '@shardlab/bson'
import t from 'tap'
import { details, validated } from './support/validated.js'

t.test('details compare strings by the collation of the collection', async (t) => {
  const collation = { locale: 'en', strength: 2 }
  const node = await validated({ $and: [{ a: 'x' }, { b: 1 }] }, { collation })
  const reply = await node.run({ insert: 'c', documents: [{ _id: 1, a: 'X', b: 2 }] })
  const { clausesNotSatisfied: clauses } = reply['writeErrors'][0].errInfo.details
  t.same(
    clauses.map(({ index }: Document) => index),
    [1],
  )
})

t.test('query operators have details of a failure', async (t) => {
  const comparison = (
    operatorName: string,
    specifiedAs: Document,
    considered: Document,
    reason = 'comparison failed',
  ) => ({
    operatorName,
    specifiedAs,
    reason,
    ...considered,
  })
  t.same(await details({ a: { $eq: 2 } }, { b: 1 }), {
    operatorName: '$eq',
    specifiedAs: { a: { $eq: 2 } },
    reason: 'field was missing',
  })
  t.same(
    await details({ a: { $eq: 2 } }, { a: [3, 4, 5] }),
    comparison('$eq', { a: { $eq: 2 } }, { consideredValues: [3, 4, 5] }),
  )
  t.same(await details({ 'a.b': 2 }, { a: [{ b: 3 }] }), comparison('$eq', { 'a.b': 2 }, { consideredValue: 3 }))
  t.same(
    await details({ 'a.b': 0 }, { a: [{ b: [1, 2] }, { b: [3, 4] }] }),
    comparison('$eq', { 'a.b': 0 }, { consideredValues: [1, 2, 3, 4] }),
  )
  t.same(
    await details({ a: { $eq: [1, 2] } }, { a: [] }),
    comparison('$eq', { a: { $eq: [1, 2] } }, { consideredValues: [] }),
  )
  t.same(
    await details({ a: { $ne: 2 } }, { a: 2 }),
    comparison('$ne', { a: { $ne: 2 } }, { consideredValue: 2 }, 'comparison succeeded'),
  )
  t.same(await details({ a: { $nin: [2] } }, { a: 2 }), {
    operatorName: '$nin',
    specifiedAs: { a: { $nin: [2] } },
    reason: 'matching value found in array',
    consideredValue: 2,
  })
  t.same(await details({ a: { $exists: false } }, { a: 1 }), {
    operatorName: '$exists',
    specifiedAs: { a: { $exists: false } },
    reason: 'path does exist',
  })
  t.same(await details({ a: { $type: 'double' } }, { a: ['x', 'y'] }), {
    operatorName: '$type',
    specifiedAs: { a: { $type: 'double' } },
    reason: 'type did not match',
    consideredValues: ['x', 'y'],
    consideredType: 'string',
  })
  t.same(await details({ a: { $size: 1 } }, { a: 'no' }), {
    operatorName: '$size',
    specifiedAs: { a: { $size: 1 } },
    reason: 'type did not match',
    consideredType: 'string',
    expectedType: 'array',
    consideredValue: 'no',
  })
  t.same(await details({ a: { $regex: '^S', $options: '' } }, { a: 1 }), {
    operatorName: '$regex',
    specifiedAs: { a: { $regex: '^S', $options: '' } },
    reason: 'type did not match',
    consideredType: 'int',
    expectedTypes: ['regex', 'string', 'symbol'],
    consideredValue: 1,
  })
  t.same(await details({ a: { $all: [1, 2] } }, { a: [1] }), {
    operatorName: '$all',
    specifiedAs: { a: { $all: [1, 2] } },
    reason: 'array did not contain all specified values',
    consideredValue: [1],
  })
  t.same(await details({ $expr: { $eq: ['$a', '$b'] } }, { a: 1, b: 2 }), {
    operatorName: '$expr',
    specifiedAs: { $expr: { $eq: ['$a', '$b'] } },
    reason: 'expression did not match',
    expressionResult: false,
  })
  t.match(await details({ $expr: { $divide: ['$a', 0] } }, { a: 1 }), {
    reason: 'failed to evaluate aggregation expression',
    details: { code: Number, errmsg: String },
  })
})

t.test('logical operators list their clauses, negated below a negation', async (t) => {
  t.same(
    await details(
      { $and: [{ $or: [{ p: { $gt: 50 } }, { p: { $lt: 20 } }] }, { q: { $gt: 0 } }, { q: { $lt: 10 } }] },
      { p: 30, q: 30 },
    ),
    {
      operatorName: '$and',
      clausesNotSatisfied: [
        {
          index: 0,
          details: {
            operatorName: '$or',
            clausesNotSatisfied: [
              {
                index: 0,
                details: {
                  operatorName: '$gt',
                  specifiedAs: { p: { $gt: 50 } },
                  reason: 'comparison failed',
                  consideredValue: 30,
                },
              },
              {
                index: 1,
                details: {
                  operatorName: '$lt',
                  specifiedAs: { p: { $lt: 20 } },
                  reason: 'comparison failed',
                  consideredValue: 30,
                },
              },
            ],
          },
        },
        {
          index: 2,
          details: {
            operatorName: '$lt',
            specifiedAs: { q: { $lt: 10 } },
            reason: 'comparison failed',
            consideredValue: 30,
          },
        },
      ],
    },
  )
  t.same(await details({ $nor: [{ q: { $gt: 30 } }, { q: { $not: { $lt: 20 } } }] }, { q: 25 }), {
    operatorName: '$nor',
    clausesSatisfied: [
      {
        index: 1,
        details: {
          operatorName: '$not',
          details: {
            operatorName: '$lt',
            specifiedAs: { q: { $lt: 20 } },
            reason: 'comparison failed',
            consideredValue: 25,
          },
        },
      },
    ],
  })
  t.same(await details({ a: { $gt: 1, $lt: 5 } }, { a: 7 }), {
    operatorName: '$and',
    clausesNotSatisfied: [
      {
        index: 1,
        details: {
          operatorName: '$lt',
          specifiedAs: { a: { $lt: 5 } },
          reason: 'comparison failed',
          consideredValue: 7,
        },
      },
    ],
  })
  t.same(await details({ $nor: [{ $jsonSchema: { minimum: 1 } }] }, { a: 2 }), {
    operatorName: '$nor',
    clausesSatisfied: [{ index: 0, details: { operatorName: '$jsonSchema', reason: 'schema matched' } }],
  })
})
