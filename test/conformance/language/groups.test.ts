/** $group and its accumulators, with the examples of the manual's pages. */
import { Decimal128, Double, Long } from 'mongodb'
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const double = (value: number): Double => new Double(value)
const long = (value: number): Long => Long.fromNumber(value)
const decimal = (value: string): Decimal128 => Decimal128.fromString(value)

const groups: readonly Example[] = [
  {
    name: '$group by null',
    documents: [
      { item: 'abc', price: decimal('10'), quantity: 2 },
      { item: 'jkl', price: decimal('20'), quantity: 1 },
    ],
    aggregate: [
      {
        $group: {
          _id: null,
          total: { $sum: { $multiply: ['$price', '$quantity'] } },
          average: { $avg: '$quantity' },
          count: { $sum: 1 },
        },
      },
    ],
    gives: [{ _id: null, total: decimal('40'), average: 1.5, count: 2 }],
  },
  {
    name: '$group collects documents',
    documents: [
      { _id: 1, title: 'The Banquet', author: 'Dante' },
      { _id: 2, title: 'Eclogues', author: 'Dante' },
      { _id: 3, title: 'Iliad', author: 'Homer' },
    ],
    aggregate: [
      { $sort: { _id: 1 } },
      { $group: { _id: '$author', books: { $push: '$$ROOT' } } },
      { $sort: { _id: 1 } },
    ],
    gives: [
      {
        _id: 'Dante',
        books: [
          { _id: 1, title: 'The Banquet', author: 'Dante' },
          { _id: 2, title: 'Eclogues', author: 'Dante' },
        ],
      },
      { _id: 'Homer', books: [{ _id: 3, title: 'Iliad', author: 'Homer' }] },
    ],
    order: 'sorted',
  },
  {
    name: '$addToSet',
    documents: [
      { d: 1, item: 'abc' },
      { d: 1, item: 'jkl' },
      { d: 1, item: 'abc' },
      { d: 2, item: 'xyz' },
    ],
    aggregate: [{ $group: { _id: '$d', items: { $addToSet: '$item' } } }],
    gives: [
      { _id: 1, items: ['abc', 'jkl'] },
      { _id: 2, items: ['xyz'] },
    ],
    order: 'any',
    sets: ['items'],
  },
  {
    name: '$first and $last after a sort',
    documents: [
      { _id: 1, item: 'abc', q: 2 },
      { _id: 2, item: 'jkl', q: 1 },
      { _id: 3, item: 'abc', q: 10 },
    ],
    aggregate: [
      { $sort: { item: 1, _id: 1 } },
      { $group: { _id: '$item', first: { $first: '$q' }, last: { $last: '$q' } } },
    ],
    gives: [
      { _id: 'abc', first: 2, last: 10 },
      { _id: 'jkl', first: 1, last: 1 },
    ],
    order: 'any',
  },
  {
    name: '$top, $topN, $bottom, $bottomN',
    documents: [
      ['G1', 'A', 31],
      ['G1', 'B', 33],
      ['G1', 'C', 99],
      ['G1', 'D', 1],
      ['G2', 'A', 10],
    ].map(([game, player, score]) => ({ game, player, score })),
    aggregate: [
      {
        $group: {
          _id: '$game',
          top: { $top: { output: ['$player', '$score'], sortBy: { score: -1 } } },
          two: { $topN: { output: '$player', sortBy: { score: -1 }, n: 2 } },
          low: { $bottom: { output: '$player', sortBy: { score: -1 } } },
          lows: { $bottomN: { output: '$player', sortBy: { score: -1 }, n: 3 } },
        },
      },
    ],
    gives: [
      { _id: 'G1', top: ['C', 99], two: ['C', 'B'], low: 'D', lows: ['B', 'A', 'D'] },
      { _id: 'G2', top: ['A', 10], two: ['A'], low: 'A', lows: ['A'] },
    ],
    order: 'any',
  },
  {
    name: '$maxN, $minN, $firstN with an n of the group',
    documents: [
      ['G1', 31],
      ['G1', 33],
      ['G1', 99],
      ['G2', 10],
      ['G2', 7],
    ].map(([game, score], _id) => ({ _id, game, score })),
    aggregate: [
      { $sort: { _id: 1 } },
      {
        $group: {
          _id: { game: '$game' },
          max: { $maxN: { input: '$score', n: { $cond: { if: { $eq: ['$game', 'G2'] }, then: 1, else: 3 } } } },
          min: { $minN: { input: '$score', n: 1 } },
          first: { $firstN: { input: '$score', n: 2 } },
          last: { $lastN: { input: '$score', n: 2 } },
        },
      },
    ],
    gives: [
      { _id: { game: 'G1' }, max: [99, 33, 31], min: [31], first: [31, 33], last: [33, 99] },
      { _id: { game: 'G2' }, max: [10], min: [7], first: [10, 7], last: [10, 7] },
    ],
    order: 'any',
  },
  {
    name: '$mergeObjects as an accumulator',
    documents: [
      { _id: 1, item: 'abc', quantity: { '2017Q1': 500 } },
      { _id: 2, item: 'abc', quantity: { '2016Q1': 400, '2017Q1': 550 } },
    ],
    aggregate: [{ $sort: { _id: 1 } }, { $group: { _id: '$item', sold: { $mergeObjects: '$quantity' } } }],
    gives: [{ _id: 'abc', sold: { '2017Q1': 550, '2016Q1': 400 } }],
  },
  {
    name: '$stdDevPop and $stdDevSamp',
    documents: [85, 90, 71].map((score) => ({ quiz: 1, score })),
    aggregate: [{ $group: { _id: '$quiz', pop: { $stdDevPop: '$score' } } }],
    gives: [{ _id: 1, pop: 8.04155872120988 }],
  },
  {
    name: '$median and $percentile',
    documents: [
      { _id: 1, t: 62 },
      { _id: 2, t: 60 },
      { _id: 3, t: 85 },
      { _id: 4, t: 67 },
      { _id: 5, t: 75 },
    ],
    aggregate: [
      {
        $group: {
          _id: null,
          p: { $percentile: { input: '$t', p: [0.95, 0.5], method: 'approximate' } },
          m: { $median: { input: '$t', method: 'approximate' } },
        },
      },
    ],
    gives: [{ _id: null, p: [double(85), double(67)], m: double(67) }],
  },
  {
    name: '$group puts null and missing together',
    documents: [{ a: null, n: 1 }, { n: 2 }, { a: 1, n: 4 }],
    aggregate: [{ $group: { _id: '$a', n: { $sum: '$n' } } }],
    gives: [
      { _id: null, n: 3 },
      { _id: 1, n: 4 },
    ],
    order: 'any',
  },
  {
    name: '$sum of numbers of several types',
    documents: [{ v: 1 }, { v: long(2) }, { v: double(0.5) }, { v: 'x' }, {}],
    aggregate: [{ $group: { _id: null, s: { $sum: '$v' }, max: { $max: '$v' }, min: { $min: '$v' } } }],
    gives: [{ _id: null, s: 3.5, max: 'x', min: 0.5 }],
  },
]

t.test('$group gives the documents of the manual', (t) => runExamples(t, groups))
