/**
 * Documents and pipelines for which mingo agrees with the server: whole numbers, plain strings, no
 * values of the wrong type.
 */
import type { Document } from '@shardlab/bson'
import fc from 'fast-check'

const small = fc.integer({ min: -3, max: 9 })
const word = fc.constantFrom('', 'a', 'ab', 'b', 'abc', 'xyz')

export const document: fc.Arbitrary<Document> = fc.record({
  k: fc.constantFrom('x', 'y', 'z'),
  n: small,
  s: word,
  list: fc.array(small, { maxLength: 4 }),
  o: fc.record({ p: small, q: word }),
  items: fc.array(fc.record({ p: small, q: word }), { maxLength: 3 }),
})

type Expression = fc.Arbitrary<unknown>

interface Expressions {
  number: unknown
  string: unknown
  boolean: unknown
  numbers: unknown
}

const names = (...list: string[]) => fc.constantFrom(...list)
const binary = (operators: Expression, a: Expression, b: Expression = a): Expression =>
  fc.tuple(operators as fc.Arbitrary<string>, a, b).map(([operator, x, y]) => ({ [operator]: [x, y] }))
const unary = (operators: Expression, a: Expression): Expression =>
  fc.tuple(operators as fc.Arbitrary<string>, a).map(([operator, x]) => ({ [operator]: x }))
const condition = (test: Expression, a: Expression): Expression =>
  fc.tuple(test, a, a).map((operands) => ({ $cond: operands }))

const expressions = fc.letrec<Expressions>((tie) => {
  const [number, text, boolean, numbers] = [tie('number'), tie('string'), tie('boolean'), tie('numbers')]
  const scalar = fc.oneof(number, text)
  return {
    number: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'expression' },
      names('$n', '$o.p'),
      small,
      binary(names('$add', '$subtract', '$multiply', '$min', '$max'), number),
      unary(names('$abs', '$ceil', '$floor'), number),
      binary(fc.constant('$mod'), number, fc.constantFrom(2, 3, 5)),
      binary(fc.constant('$divide'), number, fc.constantFrom(2, 4)),
      unary(names('$size', '$sum'), numbers),
      unary(fc.constant('$strLenCP'), text),
      binary(fc.constant('$indexOfBytes'), text),
      binary(names('$cmp'), scalar),
      condition(boolean, number),
      fc
        .tuple(numbers, number)
        .map(([input, initialValue]) => ({ $reduce: { input, initialValue, in: { $add: ['$$value', '$$this'] } } })),
      fc.tuple(number, number).map(([x, y]) => ({ $let: { vars: { x, y }, in: { $subtract: ['$$x', '$$y'] } } })),
      fc.tuple(boolean, number, boolean, number, number).map(([a, x, b, y, z]) => ({
        $switch: {
          branches: [
            { case: a, then: x },
            { case: b, then: y },
          ],
          default: z,
        },
      })),
    ),
    string: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'expression' },
      names('$k', '$s', '$o.q'),
      word.map((literal) => ({ $literal: literal })),
      binary(fc.constant('$concat'), text),
      unary(names('$toUpper', '$toLower'), text),
      fc.tuple(text, fc.nat(2), fc.nat(3)).map((operands) => ({ $substrCP: operands })),
      fc.tuple(text, names('a', 'b')).map(([input, chars]) => ({ $trim: { input, chars } })),
      fc
        .tuple(text, names('a', 'b'), word)
        .map(([input, find, replacement]) => ({ $replaceAll: { input, find, replacement } })),
      condition(boolean, text),
    ),
    boolean: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'expression' },
      binary(names('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), number),
      binary(names('$eq', '$ne', '$gt', '$lte'), text),
      binary(names('$and', '$or'), boolean),
      fc.tuple(boolean).map((operands) => ({ $not: operands })),
      binary(fc.constant('$in'), number, numbers),
      binary(names('$setIsSubset', '$setEquals'), numbers),
    ),
    numbers: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'expression' },
      fc.constant('$list'),
      fc.constant('$items.p'),
      binary(fc.constant('$concatArrays'), numbers),
      unary(fc.constant('$reverseArray'), numbers),
      fc.tuple(numbers, fc.integer({ min: -3, max: 3 })).map((operands) => ({ $slice: operands })),
      fc
        .tuple(numbers, number)
        .map(([input, than]) => ({ $filter: { input, as: 'e', cond: { $gte: ['$$e', than] } } })),
      fc.tuple(numbers, number).map(([input, by]) => ({ $map: { input, as: 'e', in: { $add: ['$$e', by] } } })),
      fc.tuple(numbers, fc.constantFrom(1, -1)).map(([input, sortBy]) => ({ $sortArray: { input, sortBy } })),
      fc.tuple(fc.nat(3), fc.nat(6)).map((operands) => ({ $range: operands })),
      fc.array(number, { maxLength: 3 }).map((list) => ({ $concatArrays: [list, '$list'] })),
    ),
  }
})

const anything = fc.oneof(expressions.number, expressions.string, expressions.boolean, expressions.numbers)

const accumulator: fc.Arbitrary<Document> = fc.oneof(
  fc
    .tuple(names('$sum', '$avg', '$min', '$max', '$first', '$last', '$push'), expressions.number)
    .map(([name, of]) => ({ [name]: of })),
  fc.tuple(names('$min', '$max', '$push', '$first', '$last'), expressions.string).map(([name, of]) => ({ [name]: of })),
  fc.constant({ $count: {} }),
  fc
    .tuple(names('$firstN', '$lastN', '$minN', '$maxN'), fc.integer({ min: 1, max: 3 }))
    .map(([name, n]) => ({ [name]: { n, input: '$n' } })),
  fc.constantFrom<Document>(
    { $topN: { n: 2, sortBy: { n: 1, _id: 1 }, output: '$_id' } },
    { $bottomN: { n: 1, sortBy: { s: 1, _id: 1 }, output: '$s' } },
  ),
)

const query: fc.Arbitrary<Document> = fc.oneof(
  fc
    .tuple(names('n', 'list', 'o.p', 'items.p'), names('$gt', '$lte', '$ne', '$eq'), small)
    .map(([path, name, than]) => ({ [path]: { [name]: than } })),
  fc
    .tuple(names('k', 's', 'items.q'), fc.array(word, { minLength: 1, maxLength: 3 }))
    .map(([path, list]) => ({ [path]: { $in: list } })),
  fc.tuple(small, word).map(([p, q]) => ({ items: { $elemMatch: { p: { $gte: p }, q: { $lte: q } } } })),
  expressions.boolean.map((test) => ({ $expr: test })),
)

const window = fc.oneof(
  fc.constant({}),
  fc.tuple(fc.nat(2), fc.nat(2)).map(([before, after]) => ({ window: { documents: [-before, after] } })),
  fc.constant({ window: { documents: ['unbounded', 'current'] } }),
)

/** Stages that do not change documents. */
const keeping: fc.Arbitrary<Document> = fc.oneof(
  query.map((filter) => ({ $match: filter })),
  fc
    .tuple(names('n', 's', 'o.p'), fc.constantFrom(1, -1))
    .map(([path, direction]) => ({ $sort: { [path]: direction, _id: 1 } })),
  fc.integer({ min: 1, max: 5 }).map((count) => ({ $limit: count })),
  fc.nat(2).map((count) => ({ $skip: count })),
  expressions.number.map((n) => ({ $addFields: { n } })),
  expressions.number.map((p) => ({ $set: { 'o.p': p } })),
  expressions.string.map((q) => ({ $set: { 'o.q': q } })),
  expressions.numbers.map((list) => ({ $set: { list } })),
)

const groupKey = fc.oneof(
  fc.constantFrom<unknown>('$k', '$s', null, { k: '$k', s: '$s' }),
  expressions.boolean,
  expressions.number.map((number) => ({ $mod: [number, 3] })),
)

const inOrder: Document = { $sort: { _id: 1 } }

const changing: fc.Arbitrary<Document[]> = fc.oneof(
  fc.constant<Document[]>([]),
  fc.tuple(groupKey, accumulator, accumulator).map(([_id, a, b]) => [{ $group: { _id, a, b } }, inOrder]),
  fc
    .tuple(names('$k', '$n'), accumulator)
    .map(([groupBy, total]) => [{ $group: { _id: groupBy, total } }, inOrder, { $limit: 2 }]),
  fc.tuple(anything, names('n', 'o.q')).map(([x, path]) => [{ $addFields: { x } }, { $project: { x: 1, [path]: 1 } }]),
  names('list', 'items').map((path) => [{ $unwind: `$${path}` }]),
  fc.constant<Document[]>([{ $unwind: { path: '$items', includeArrayIndex: 'at', preserveNullAndEmptyArrays: true } }]),
  fc.constant<Document[]>([{ $sortByCount: '$k' }, { $sort: { count: -1, _id: 1 } }]),
  fc.constant<Document[]>([{ $replaceRoot: { newRoot: '$o' } }]),
  fc.constant<Document[]>([{ $unset: ['items', 'o.p'] }]),
  fc
    .tuple(names('$sum', '$avg', '$min', '$max', '$push', '$first', '$last'), window)
    .map(([name, where]) => [
      { $setWindowFields: { partitionBy: '$k', sortBy: { n: 1, _id: 1 }, output: { w: { [name]: '$n', ...where } } } },
      inOrder,
    ]),
  fc
    .constantFrom<Document>(
      { $rank: {} },
      { $denseRank: {} },
      { $documentNumber: {} },
      { $shift: { output: '$_id', by: -1, default: 0 } },
    )
    .map((w) => [{ $setWindowFields: { partitionBy: '$k', sortBy: { n: 1 }, output: { w } } }, inOrder]),
  fc.tuple(query, accumulator).map(([filter, a]) => [
    {
      $facet: { some: [{ $match: filter }, { $project: { n: 1 } }], totals: [{ $group: { _id: '$k', a } }, inOrder] },
    },
  ]),
)

export const pipeline: fc.Arbitrary<Document[]> = fc
  .tuple(fc.array(keeping, { maxLength: 3 }), changing)
  .map(([first, last]) => [...first, ...last])
