/** Expressions over arrays, with the examples of the manual's pages of operators. */
import { Long } from 'mongodb'
import t from 'tap'
import { missing, runExpressions, type ExpressionRow } from './support/language.js'

const long = (value: number | string): Long => Long.fromString(String(value))

const arrays: readonly ExpressionRow[] = [
  [{ $arrayElemAt: [[1, 2, 3], 0] }, 1],
  [{ $arrayElemAt: [[1, 2, 3], -2] }, 2],
  [{ $arrayElemAt: [[1, 2, 3], 15] }, missing],
  [{ $arrayElemAt: ['$favorites', -1] }, 'pie', { favorites: ['apples', 'pudding', 'pie'] }],
  [{ $arrayElemAt: ['$favorites', 0] }, missing, { favorites: [] }],
  [{ $first: '$readings' }, 5, { readings: [5, 6] }],
  [{ $first: '$readings' }, missing, { readings: [] }],
  [{ $first: '$readings' }, null, { readings: null }],
  [{ $last: '$readings' }, 6, { readings: [5, 6] }],
  [{ $firstN: { n: 3, input: [10, 20, 30, 40] } }, [10, 20, 30]],
  [{ $lastN: { n: 2, input: '$score' } }, [3, null], { score: [1, 3, null] }],
  [{ $maxN: { n: 2, input: '$score' } }, [3, 2], { score: [1, 2, 3] }],
  [{ $maxN: { n: 2, input: '$score' } }, [10, 8], { score: [null, 8, 10] }],
  [{ $minN: { n: 2, input: '$score' } }, [1, 2], { score: [3, 2, 1, null] }],
  [{ $concatArrays: [['hello', ' '], ['world']] }, ['hello', ' ', 'world']],
  [
    {
      $concatArrays: [
        ['hello', ' '],
        [['world'], 'again'],
      ],
    },
    ['hello', ' ', ['world'], 'again'],
  ],
  [{ $concatArrays: ['$instock', '$ordered'] }, null, { instock: ['apples'] }],
  [
    { $filter: { input: [1, 'a', 2, null, 3.1, long(4), '5'], as: 'num', cond: { $isNumber: '$$num' } } },
    [1, 2, 3.1, long(4)],
  ],
  [
    { $filter: { input: [1, 'a', 2, null, 3.1, long(4), '5'], as: 'num', cond: { $isNumber: '$$num' }, limit: 2 } },
    [1, 2],
  ],
  [
    { $filter: { input: [1, 'a', 2, null, 3.1, long(4), '5'], as: 'num', cond: { $isNumber: '$$num' }, limit: 10 } },
    [1, 2, 3.1, long(4)],
  ],
  [
    { $filter: { input: '$items', as: 'item', cond: { $gte: ['$$item.price', 100] } } },
    [{ id: 2, price: 120 }],
    {
      items: [
        { id: 1, price: 9 },
        { id: 2, price: 120 },
      ],
    },
  ],
  [{ $filter: { input: null, cond: true } }, null],
  [{ $in: [2, [1, 2, 3]] }, true],
  [{ $in: ['abc', ['xyz', 'abc']] }, true],
  [{ $in: ['xy', ['xyz', 'abc']] }, false],
  [{ $in: [['a'], ['a']] }, false],
  [{ $in: [['a'], [['a']]] }, true],
  [{ $in: [/^a/, ['a']] }, false],
  [{ $in: [/^a/, [/^a/]] }, true],
  [{ $indexOfArray: [['a', 'abc'], 'a'] }, 0],
  [{ $indexOfArray: [['a', 'abc', 'de', ['de']], ['de']] }, 3],
  [{ $indexOfArray: [[1, 2], 5] }, -1],
  [
    {
      $indexOfArray: [
        [1, 2, 3],
        [1, 2],
      ],
    },
    -1,
  ],
  [{ $indexOfArray: [[10, 9, 9, 8, 9], 9, 3] }, 4],
  [{ $indexOfArray: [['a', 'abc', 'b'], 'b', 0, 1] }, -1],
  [{ $indexOfArray: [['a', 'abc', 'b'], 'b', 1, 0] }, -1],
  [{ $indexOfArray: [['a', 'abc', 'b'], 'b', 20] }, -1],
  [{ $indexOfArray: [[null, null, null], null] }, 0],
  [{ $indexOfArray: [null, 'foo'] }, null],
  [{ $isArray: ['hello'] }, false],
  [{ $isArray: [['hello', 'world']] }, true],
  [{ $map: { input: '$quizzes', as: 'grade', in: { $add: ['$$grade', 2] } } }, [7, 8, 9], { quizzes: [5, 6, 7] }],
  [{ $map: { input: '$quizzes', as: 'grade', in: { $add: ['$$grade', 2] } } }, [], { quizzes: [] }],
  [{ $range: [0, 10, 2] }, [0, 2, 4, 6, 8]],
  [{ $range: [10, 0, -2] }, [10, 8, 6, 4, 2]],
  [{ $range: [0, 10, -2] }, []],
  [{ $range: [0, 5] }, [0, 1, 2, 3, 4]],
  [{ $reduce: { input: ['a', 'b', 'c'], initialValue: '', in: { $concat: ['$$value', '$$this'] } } }, 'abc'],
  [
    {
      $reduce: {
        input: [1, 2, 3, 4],
        initialValue: { sum: 5, product: 2 },
        in: { sum: { $add: ['$$value.sum', '$$this'] }, product: { $multiply: ['$$value.product', '$$this'] } },
      },
    },
    { sum: 15, product: 48 },
  ],
  [
    {
      $reduce: {
        input: [
          [3, 4],
          [5, 6],
        ],
        initialValue: [1, 2],
        in: { $concatArrays: ['$$value', '$$this'] },
      },
    },
    [1, 2, 3, 4, 5, 6],
  ],
  [{ $reverseArray: { $literal: [1, 2, 3] } }, [3, 2, 1]],
  [{ $reverseArray: { $slice: [['foo', 'bar', 'baz', 'qux'], 1, 2] } }, ['baz', 'bar']],
  [{ $reverseArray: null }, null],
  [{ $reverseArray: { $literal: [] } }, []],
  [
    {
      $reverseArray: [
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      ],
    },
    [
      [4, 5, 6],
      [1, 2, 3],
    ],
  ],
  [{ $size: '$colors' }, 3, { colors: ['blue', 'black', 'red'] }],
  [{ $slice: [[1, 2, 3], 1, 1] }, [2]],
  [{ $slice: [[1, 2, 3], -2] }, [2, 3]],
  [{ $slice: [[1, 2, 3], 15, 2] }, []],
  [{ $slice: [[1, 2, 3], -15, 2] }, [1, 2]],
  [
    { $sortArray: { input: '$team', sortBy: { name: 1 } } },
    [
      { name: 'charlie', age: 42 },
      { name: 'pat', age: 30 },
    ],
    {
      team: [
        { name: 'pat', age: 30 },
        { name: 'charlie', age: 42 },
      ],
    },
  ],
  [
    { $sortArray: { input: '$team', sortBy: { age: -1, name: 1 } } },
    [
      { n: 1, age: 42 },
      { n: 2, age: 30, name: 'd' },
      { n: 3, age: 30, name: 'p' },
    ],
    {
      team: [
        { n: 3, age: 30, name: 'p' },
        { n: 2, age: 30, name: 'd' },
        { n: 1, age: 42 },
      ],
    },
  ],
  [{ $sortArray: { input: [1, 4, 1, 6, 12, 5], sortBy: 1 } }, [1, 1, 4, 5, 6, 12]],
  [
    {
      $sortArray: {
        input: [
          20,
          4,
          { a: 'Free' },
          6,
          21,
          5,
          'Gratis',
          { a: null },
          { a: { sale: true, price: 19 } },
          10.23,
          { a: 'On sale' },
        ],
        sortBy: 1,
      },
    },
    [4, 5, 6, 10.23, 20, 21, 'Gratis', { a: null }, { a: 'Free' }, { a: 'On sale' }, { a: { sale: true, price: 19 } }],
  ],
  [{ $zip: { inputs: [['a'], ['b'], ['c']] } }, [['a', 'b', 'c']]],
  [{ $zip: { inputs: [['a'], ['b', 'c']] } }, [['a', 'b']]],
  [
    { $zip: { inputs: [['a'], ['b', 'c']], useLongestLength: true } },
    [
      ['a', 'b'],
      [null, 'c'],
    ],
  ],
  [
    { $zip: { inputs: [['a'], ['b', 'c']], useLongestLength: true, defaults: ['x', 'y'] } },
    [
      ['a', 'b'],
      ['x', 'c'],
    ],
  ],
  [{ $zip: { inputs: ['$matrix.0', [1]] } }, [], { matrix: [[1]] }],
]

t.test('array expressions give the values of the manual', (t) => runExpressions(t, arrays))
