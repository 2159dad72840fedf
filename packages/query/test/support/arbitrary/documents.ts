/** Few names and few values, so that filters often match. */
import fc from 'fast-check'
import type { Plain, PlainFilter } from '../reference/filter.js'

const scalar: fc.Arbitrary<Plain> = fc.oneof(
  fc.integer({ min: -2, max: 4 }),
  fc.constantFrom<Plain>(0.5, -0, Number.NaN, Infinity, 2 ** 53),
  fc.constantFrom<Plain>('', 'a', 'ab', 'b', '\u{1f600}', '\uffee'),
  fc.constant(null),
  fc.boolean(),
)

const name = fc.constantFrom('a', 'b', 'c')

export function value(arrays: boolean): fc.Arbitrary<Plain> {
  return fc.letrec<{ value: Plain }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<Plain>,
      ...(arrays ? [fc.array(tie('value'), { maxLength: 3 }) as fc.Arbitrary<Plain>] : []),
    ),
  })).value
}

export function document(arrays: boolean): fc.Arbitrary<{ [name: string]: Plain }> {
  return fc.dictionary(name, value(arrays), { maxKeys: 3, noNullPrototype: true })
}

export const path = fc.oneof(
  { weight: 3, arbitrary: name },
  fc.tuple(name, fc.constantFrom('a', 'b', '0', '1')).map((parts) => parts.join('.')),
  fc.constantFrom('a.0.b', 'a.b.c', 'b.a.0'),
)

const comparison = fc
  .constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte')
  .chain((operator) => value(true).map((argument) => ({ [operator]: argument })))

const condition: fc.Arbitrary<{ [operator: string]: Plain }> = fc.oneof(
  { weight: 4, arbitrary: comparison },
  fc.tuple(comparison, comparison).map(([a, b]) => ({ ...a, ...b })),
  fc
    .tuple(fc.constantFrom('$in', '$nin'), fc.array(value(true), { maxLength: 10 }))
    .map(([operator, list]) => ({ [operator]: list })),
  fc.boolean().map((argument) => ({ $exists: argument })),
  fc.nat(3).map((argument) => ({ $size: argument })),
  comparison.map((argument) => ({ $not: argument as Plain })),
  fc.array(value(true), { maxLength: 2 }).map((argument) => ({ $all: argument })),
  fc.constantFrom('null', 'array', 'bool', 'number', 'string', 'object').map((argument) => ({ $type: argument })),
  fc.tuple(fc.constantFrom(2, 3, -2), fc.constantFrom(0, 1, -1)).map((argument) => ({ $mod: argument })),
  fc.nat(7).map((argument) => ({ $bitsAnySet: argument })),
  fc.constantFrom('^a', 'b$', '.', '^$').map((argument) => ({ $regex: argument })),
  fc
    .tuple(fc.constantFrom('a', 'b', 'a.b', '0'), comparison)
    .map(([inner, argument]) => ({ $elemMatch: { [inner]: argument } })),
  fc
    .tuple(fc.constantFrom('$gt', '$gte', '$lt', '$eq'), scalar)
    .map(([operator, argument]) => ({ $elemMatch: { [operator]: argument } })),
)

export const filter: fc.Arbitrary<PlainFilter> = fc.letrec<{ filter: PlainFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2 },
    fc.dictionary(path, condition, { minKeys: 0, maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<PlainFilter>,
    fc
      .tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(tie('filter'), { minLength: 1, maxLength: 3 }))
      .map(([operator, children]) => ({ [operator]: children })),
  ),
})).filter
