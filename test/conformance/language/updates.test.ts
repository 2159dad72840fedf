/**
 * Update operators, with the examples of the manual's pages: an `updates` element of the command,
 * and the contents of the collection after it.
 */
import { Decimal128, Double, Int32, Long } from 'mongodb'
import t from 'tap'
import { runExamples, updateExamples, type Example } from './support/language.js'

const fields = updateExamples([
  [
    { qty: 10, metrics: { orders: 2, ratings: 3.5 } },
    { $inc: { qty: -2, 'metrics.orders': 1 } },
    { qty: 8, metrics: { orders: 3, ratings: 3.5 } },
  ],
  [{ a: 1 }, { $inc: { b: 5 } }, { a: 1, b: 5 }],
  [{ n: new Int32(2147483647) }, { $inc: { n: 1 } }, { n: Long.fromNumber(2147483648) }],
  [{ n: 1 }, { $inc: { n: 0.5 } }, { n: 1.5 }],
  [
    { price: Decimal128.fromString('10.99'), qty: 25 },
    { $mul: { price: Decimal128.fromString('1.25'), qty: 2 } },
    { price: Decimal128.fromString('13.7375'), qty: 50 },
  ],
  [{ item: 'Unknown' }, { $mul: { price: Long.fromNumber(100) } }, { item: 'Unknown', price: Long.fromNumber(0) }],
  [{ price: Long.fromNumber(10) }, { $mul: { price: new Int32(5) } }, { price: Long.fromNumber(50) }],
  [{ low: 200, high: 800 }, { $min: { low: 150 } }, { low: 150, high: 800 }],
  [{ low: 150, high: 800 }, { $min: { low: 250 } }, { low: 150, high: 800 }],
  [{ low: 200, high: 800 }, { $max: { high: 950 } }, { low: 200, high: 950 }],
  [{ high: 950 }, { $max: { high: 870 } }, { high: 950 }],
  [{ at: new Date('2013-10-01') }, { $max: { at: new Date('2013-09-30') } }, { at: new Date('2013-10-01') }],
  [
    { nmae: { first: 'george' }, alias: ['x'] },
    { $rename: { nmae: 'name' } },
    { alias: ['x'], name: { first: 'george' } },
  ],
  [
    { name: { first: 'a', last: 'b' } },
    { $rename: { 'name.first': 'name.fname' } },
    { name: { last: 'b', fname: 'a' } },
  ],
  [{ a: 1 }, { $rename: { wife: 'spouse' } }, { a: 1 }],
  [
    { details: { model: '14QQ', make: 'xyz' }, tags: ['tools'] },
    { $set: { quantity: 500, details: { model: '2600', make: 'Fashionaires' }, tags: ['coats', 'outerwear'] } },
    { details: { model: '2600', make: 'Fashionaires' }, tags: ['coats', 'outerwear'], quantity: 500 },
  ],
  [
    { details: { model: '14QQ', make: 'Clothes Corp' } },
    { $set: { 'details.make': 'Kustom Kidz' } },
    { details: { model: '14QQ', make: 'Kustom Kidz' } },
  ],
  [
    { tags: ['coats', 'x'], ratings: [{ by: 'A', rating: 4 }] },
    { $set: { 'tags.1': 'rain gear', 'ratings.0.rating': 2 } },
    { tags: ['coats', 'rain gear'], ratings: [{ by: 'A', rating: 2 }] },
  ],
  [{}, { $set: { 'x.b': 1, 'x.a': 2 } }, { x: { a: 2, b: 1 } }],
  [{ a: [1] }, { $set: { 'a.3': 9 } }, { a: [1, null, null, 9] }],
  [{ item: 'chisel', qty: 4, instock: true }, { $unset: { qty: '', instock: '' } }, { item: 'chisel' }],
  [{ a: [1, 2, 3] }, { $unset: { 'a.1': '' } }, { a: [1, null, 3] }],
  [{ expdata: 13 }, { $bit: { expdata: { and: 10 } } }, { expdata: 8 }],
  [{ expdata: 3 }, { $bit: { expdata: { or: 5 } } }, { expdata: 7 }],
  [{ expdata: 1 }, { $bit: { expdata: { xor: 5 } } }, { expdata: 4 }],
  [{ a: 1 }, { $setOnInsert: { b: 1 }, $set: { c: 1 } }, { a: 1, c: 1 }],
  [{ b: 1, a: 1 }, { $set: { a: 1 } }, { b: 1, a: 1 }],
])

const members = [
  { _id: 1, member: 'abc123', status: 'A', points: 2, misc1: 'note', misc2: 'renew' },
  { _id: 2, member: 'xyz123', status: 'D', points: 59, misc1: 'reminder', misc2: 'confirm' },
]
const pipelines: readonly Example[] = [
  {
    name: '$set and $unset',
    documents: members,
    update: {
      q: {},
      u: [{ $set: { status: 'M', comments: ['$misc1', '$misc2'] } }, { $unset: ['misc1', 'misc2'] }],
      multi: true,
    },
    gives: [
      { _id: 1, member: 'abc123', status: 'M', points: 2, comments: ['note', 'renew'] },
      { _id: 2, member: 'xyz123', status: 'M', points: 59, comments: ['reminder', 'confirm'] },
    ],
  },
  {
    name: 'an average and a grade computed from it',
    documents: [
      { _id: 1, tests: [95, 92, 90] },
      { _id: 2, tests: [94, 88, 90] },
      { _id: 3, tests: [70, 75, 82] },
    ],
    update: {
      q: {},
      multi: true,
      u: [
        { $set: { average: { $trunc: [{ $avg: '$tests' }, 0] } } },
        {
          $set: {
            grade: {
              $switch: {
                branches: [
                  { case: { $gte: ['$average', 90] }, then: 'A' },
                  { case: { $gte: ['$average', 80] }, then: 'B' },
                ],
                default: 'C',
              },
            },
          },
        },
      ],
    },
    gives: [
      { _id: 1, tests: [95, 92, 90], average: new Double(92), grade: 'A' },
      { _id: 2, tests: [94, 88, 90], average: new Double(90), grade: 'A' },
      { _id: 3, tests: [70, 75, 82], average: new Double(75), grade: 'C' },
    ],
  },
  {
    name: '$replaceWith',
    documents: [{ _id: 1, a: 1, b: { c: 2 } }],
    update: { q: { _id: 1 }, u: [{ $replaceWith: { $mergeObjects: ['$b', { _id: '$_id' }] } }] },
    gives: [{ _id: 1, c: 2 }],
  },
  {
    name: 'all documents that match',
    documents: [
      { _id: 1, v: 4 },
      { _id: 2, v: 2 },
      { _id: 3, v: 9 },
    ],
    update: { q: { v: { $gt: 3 } }, u: { $set: { review: true } }, multi: true },
    gives: [
      { _id: 1, v: 4, review: true },
      { _id: 2, v: 2 },
      { _id: 3, v: 9, review: true },
    ],
  },
  {
    name: 'an upsert takes equalities and $setOnInsert',
    documents: [],
    update: {
      q: { _id: 1, 'a.b': 2, c: { $gt: 3 }, d: { $eq: 4 } },
      u: { $set: { item: 'apple' }, $setOnInsert: { defaultQty: 100 } },
      upsert: true,
    },
    gives: [{ _id: 1, a: { b: 2 }, d: 4, defaultQty: 100, item: 'apple' }],
  },
  {
    name: 'an upsert by pipeline',
    documents: [],
    update: { q: { _id: 7 }, u: [{ $set: { n: { $add: [1, 1] } } }], upsert: true },
    gives: [{ _id: 7, n: 2 }],
  },
  {
    name: 'an upsert takes the only value of $all and pushes to a new array',
    documents: [],
    update: { q: { _id: 1, tags: { $all: ['x'] } }, u: { $push: { list: { $each: [3, 1], $sort: 1 } } }, upsert: true },
    gives: [{ _id: 1, tags: 'x', list: [1, 3] }],
  },
]

for (const [family, examples] of Object.entries({ fields, pipelines }))
  t.test(`examples of ${family} give the documents of the manual`, (t) => runExamples(t, examples))
