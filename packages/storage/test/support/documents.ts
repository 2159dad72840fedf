/** Few names and values, so that many documents match. */
import fc from 'fast-check'
import { Double, Long, type Document } from '@shardlab/bson'

export const scalar: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -2, max: 4 }) },
  { weight: 2, arbitrary: fc.constantFrom('', 'a', 'ab', 'b') },
  fc.constantFrom<unknown>(null, true, false, new Double(1.5), new Double(2), Long.fromNumber(3), new Date(5)),
)

const inner: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  fc.record({ b: scalar, c: scalar }, { requiredKeys: [] }),
)

export const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  {
    weight: 2,
    arbitrary: fc.record({ b: fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), c: scalar }, { requiredKeys: [] }),
  },
  { weight: 2, arbitrary: fc.array(inner, { maxLength: 3 }) },
)

/** Without `_id`. Arrays only at `a`, so that compound indexes accept every document. */
export const fields: fc.Arbitrary<Document> = fc.record({ a: value, b: scalar, c: scalar }, { requiredKeys: [] })

const path = fc.constantFrom('a', 'a.b', 'a.c', 'b', 'c')

const operator: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  scalar.map((to) => ({ $gt: to })),
  scalar.map((to) => ({ $gte: to })),
  scalar.map((to) => ({ $lt: to })),
  fc.tuple(scalar, scalar).map(([low, high]) => ({ $gte: low, $lte: high })),
  fc.array(scalar, { maxLength: 3 }).map((values) => ({ $in: values })),
  scalar.map((to) => ({ $ne: to })),
  fc.boolean().map((exists) => ({ $exists: exists })),
  fc.array(scalar, { maxLength: 2 }).map((values) => ({ $eq: values })),
)

const predicate: fc.Arbitrary<Document> = fc.tuple(path, operator).map(([name, condition]) => ({ [name]: condition }))

export const filter: fc.Arbitrary<Document> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: predicate },
  { weight: 4, arbitrary: fc.array(predicate, { minLength: 2, maxLength: 3 }).map((all) => ({ $and: all })) },
  { weight: 2, arbitrary: fc.array(predicate, { minLength: 2, maxLength: 3 }).map((any) => ({ $or: any })) },
  {
    weight: 1,
    arbitrary: fc.tuple(predicate, predicate, predicate).map(([one, two, three]) => ({ ...one, $or: [two, three] })),
  },
)

const direction = fc.constantFrom(1, -1)

export const sort: fc.Arbitrary<Document> = fc
  .uniqueArray(fc.tuple(path, direction), { maxLength: 2, selector: ([name]) => name })
  .map((parts) => Object.fromEntries(parts))
