import fc from 'fast-check'
import { document, value } from './documents.js'
import type { Plain } from '../reference/filter.js'
import type { Places, PlainUpdate } from '../reference/update.js'

const name = fc.constantFrom('a', 'b', 'c')
const path = fc.oneof(
  { weight: 9, arbitrary: name },
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
      {
        $each: list,
        $position: fc.integer({ min: -3, max: 4 }),
        $slice: fc.integer({ min: -3, max: 3 }),
        $sort: sortBy,
      },
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
  fc
    .tuple(fc.constantFrom('$gt', '$lte', '$ne', '$eq'), number)
    .map(([operator, argument]): Plain => ({ [operator]: argument })),
  list.map((argument): Plain => ({ $in: argument })),
  fc.tuple(fc.constantFrom('a', 'b'), number).map(([inner, argument]): Plain => ({ [inner]: { $gte: argument } })),
)

const bits = fc
  .tuple(fc.constantFrom('and', 'or', 'xor'), fc.integer({ min: -8, max: 15 }))
  .map(([operation, operand]): Plain => ({ [operation]: operand }))

const step: fc.Arbitrary<readonly [operator: string, path: string, argument: Plain]> = fc.oneof(
  ...(
    [
      [['$set', '$min', '$max'], anything],
      [['$set'], anything],
      [['$unset'], fc.constant(true)],
      [['$inc', '$mul'], number],
      [['$push'], pushed],
      [['$addToSet'], added],
      [['$pull'], pulled],
      [['$pullAll'], list],
      [['$pop'], fc.constantFrom<Plain>(1, -1)],
      [['$bit'], bits],
      [['$rename'], path],
    ] as const
  ).map(([operators, argument]) => fc.tuple(fc.constantFrom(...operators), path, argument as fc.Arbitrary<Plain>)),
)

/** With arrays in most fields, for operators that require them. */
export const target: fc.Arbitrary<{ [name: string]: Plain }> = fc.oneof(
  document(true),
  fc.record(
    {
      a: fc.array(fc.constantFrom<Plain>(1, 2, 3, 'x', null), { maxLength: 5 }) as fc.Arbitrary<Plain>,
      b: fc.array(
        fc.record(
          { a: number, b: fc.oneof(number, fc.array(number, { maxLength: 2 })) },
          { requiredKeys: [], noNullPrototype: true },
        ),
        { maxLength: 4 },
      ) as fc.Arbitrary<Plain>,
      c: fc.oneof(
        number,
        fc.record({ a: number, b: list }, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<Plain>,
      ),
    },
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<{ [name: string]: Plain }>,
)

function updateOf(steps: readonly (readonly [operator: string, path: string, argument: Plain])[]): PlainUpdate {
  const result: { [operator: string]: { [path: string]: Plain } } = {}
  for (const [operator, where, argument] of steps) (result[operator] ??= {})[where] = argument
  return result
}

export const update: fc.Arbitrary<PlainUpdate> = fc.array(step, { minLength: 1, maxLength: 3 }).map(updateOf)

const numbers = fc.array(fc.integer({ min: -2, max: 5 }), { minLength: 1, maxLength: 4 })

/**
 * Typed fields: `n` numbers, `l` a list of numbers, `o` an object, `e` documents with such fields.
 */
export const shaped: fc.Arbitrary<{ [name: string]: Plain }> = fc.record(
  {
    _id: fc.constant<Plain>(1),
    n: fc.integer({ min: -2, max: 5 }) as fc.Arbitrary<Plain>,
    l: numbers as fc.Arbitrary<Plain>,
    o: fc.record({ n: fc.nat(5), l: numbers }, { noNullPrototype: true }) as fc.Arbitrary<Plain>,
    e: fc.array(fc.record({ n: fc.nat(5), l: numbers }, { noNullPrototype: true }), {
      minLength: 1,
      maxLength: 3,
    }) as fc.Arbitrary<Plain>,
  },
  { noNullPrototype: true },
) as fc.Arbitrary<{ [name: string]: Plain }>

const element = fc.constantFrom('$', '$[]', '$[x]', '$[y]', '0', '1')
const numberPath = fc.oneof(
  fc.constantFrom('n', 'o.n', 'o.new', 'new.n'),
  element.map((part) => `e.${part}.n`),
  fc.tuple(element, fc.constantFrom('a', 'z')).map(([part, name]) => `e.${part}.${name}`),
  fc.constantFrom('$[]', '$[i]', '0').map((part) => `l.${part}`),
  fc
    .tuple(fc.constantFrom('$[]', '$[x]'), fc.constantFrom('$[]', '$[i]'))
    .map(([outer, inner]) => `e.${outer}.l.${inner}`),
)
const listPath = fc.oneof(
  fc.constantFrom('l', 'o.l', 'new.l'),
  element.map((part) => `e.${part}.l`),
)
const elementTest = fc
  .tuple(fc.constantFrom('$gte', '$lt', '$ne', '$eq'), fc.nat(4))
  .map(([operator, argument]): { [operator: string]: Plain } => ({ [operator]: argument }))

const shapedStep: fc.Arbitrary<readonly [operator: string, path: string, argument: Plain]> = fc.oneof(
  fc.tuple(fc.constantFrom('$set', '$inc', '$mul', '$min', '$max'), numberPath, fc.integer({ min: -2, max: 4 })),
  fc.tuple(fc.constant('$bit'), numberPath, bits),
  fc.tuple(fc.constant('$unset'), numberPath, fc.constant(true)),
  fc.tuple(fc.constant('$push'), listPath, pushed),
  fc.tuple(fc.constant('$addToSet'), listPath, added),
  fc.tuple(fc.constant('$pull'), listPath, elementTest as fc.Arbitrary<Plain>),
  fc.tuple(fc.constant('$pullAll'), listPath, numbers as fc.Arbitrary<Plain>),
  fc.tuple(fc.constant('$pop'), listPath, fc.constantFrom<Plain>(1, -1)),
  fc.tuple(
    fc.constant('$rename'),
    fc.constantFrom('n', 'l', 'o.n', 'o.none'),
    fc.constantFrom<Plain>('m', 'o.m', 'p.m', 'e'),
  ),
)

export interface PlacedUpdate {
  readonly update: PlainUpdate
  readonly arrayFilters: NonNullable<Places['arrayFilters']>
  /** For `e`: the first element that matches decides `$`. */
  readonly match: { readonly [operator: string]: Plain }
}

/** For {@link shaped} documents; most updates are valid. */
export const placedUpdate: fc.Arbitrary<PlacedUpdate> = fc
  .tuple(fc.array(shapedStep, { minLength: 1, maxLength: 3 }), elementTest, elementTest, elementTest, elementTest)
  .map(([steps, x, y, i, match]) => {
    const filters: { [name: string]: { [path: string]: Plain } } = { x: { 'x.n': x }, y: { 'y.n': y }, i: { i } }
    const used = Object.keys(filters).filter((identifier) =>
      steps.some(([, where]) => where.includes(`$[${identifier}]`)),
    )
    return {
      update: updateOf(steps),
      arrayFilters: Object.fromEntries(used.map((identifier) => [identifier, filters[identifier]!])),
      match,
    }
  })
