/** Updates over the same names as the documents of arbitrary.ts. */
import fc from 'fast-check'
import { document, value } from './arbitrary.js'
import type { Plain } from './reference.js'
import type { PlainUpdate } from './reference-update.js'

const name = fc.constantFrom('a', 'b', 'c')
const path = fc.oneof(
  { weight: 4, arbitrary: name },
  fc.tuple(name, fc.constantFrom('a', 'b', '0', '1', '3')).map((names) => names.join('.')),
  fc.tuple(name, fc.constantFrom('a', '0', '2'), fc.constantFrom('b', '1')).map((names) => names.join('.')),
)
const anything = value(true)
const number = fc.constantFrom<Plain>(-2, -1, 1, 3, 0.5)
const list = fc.array(anything, { maxLength: 3 })

const sortBy = fc.constantFrom<Plain>(1, -1, { a: 1 }, { b: -1 }, { a: -1, b: 1 })

const pushed = fc.oneof(
  anything,
  fc
    .record(
      { $each: list, $position: fc.integer({ min: -3, max: 4 }), $slice: fc.integer({ min: -3, max: 3 }), $sort: sortBy },
      { requiredKeys: ['$each'], noNullPrototype: true },
    )
    .map((clauses) => clauses as unknown as Plain),
)
const added = fc.oneof(
  anything,
  list.map((each): Plain => ({ $each: each })),
)
const pulled = fc.oneof(
  anything,
  fc.tuple(fc.constantFrom('$gt', '$lte', '$ne', '$eq'), number).map(([operator, argument]): Plain => ({ [operator]: argument })),
  list.map((argument): Plain => ({ $in: argument })),
  fc.tuple(fc.constantFrom('a', 'b'), number).map(([inner, argument]): Plain => ({ [inner]: { $gte: argument } })),
)

const step: fc.Arbitrary<readonly [operator: string, path: string, argument: Plain]> = fc.oneof(
  ...(
    [
      [['$set', '$min', '$max'], anything],
      [['$unset'], fc.constant(true)],
      [['$inc', '$mul'], number],
      [['$push'], pushed],
      [['$addToSet'], added],
      [['$pull'], pulled],
      [['$pullAll'], list],
      [['$pop'], fc.constantFrom<Plain>(1, -1)],
    ] as const
  ).map(([operators, argument]) => fc.tuple(fc.constantFrom(...operators), path, argument as fc.Arbitrary<Plain>)),
)

/** Documents with arrays in most places, for the operators that want them. */
export const target: fc.Arbitrary<{ [name: string]: Plain }> = fc.oneof(
  document(true),
  fc.record(
    {
      a: fc.array(fc.constantFrom<Plain>(1, 2, 3, 'x', null), { maxLength: 5 }) as fc.Arbitrary<Plain>,
      b: fc.array(
        fc.record({ a: number, b: fc.oneof(number, fc.array(number, { maxLength: 2 })) }, { requiredKeys: [], noNullPrototype: true }),
        { maxLength: 4 },
      ) as fc.Arbitrary<Plain>,
      c: fc.oneof(number, fc.record({ a: number, b: list }, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<Plain>),
    },
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<{ [name: string]: Plain }>,
)

export const update: fc.Arbitrary<PlainUpdate> = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => {
  const result: { [operator: string]: { [path: string]: Plain } } = {}
  for (const [operator, where, argument] of steps) (result[operator] ??= {})[where] = argument
  return result
})
