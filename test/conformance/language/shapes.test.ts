/** Stages that change the shape of documents, with the examples of the manual's pages. */
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const scores = [
  { _id: 1, student: 'Maya', homework: [10, 5, 10], quiz: [10, 8], extraCredit: 0 },
  { _id: 2, student: 'Ryan', homework: [5, 6, 5], quiz: [8, 8], extraCredit: 8 },
]
const vehicles = [
  { _id: 1, type: 'car', specs: { doors: 4, wheels: 4 } },
  { _id: 2, type: 'motorcycle', specs: { doors: 0, wheels: 2 } },
  { _id: 3, type: 'jet ski' },
]

const shapes: readonly Example[] = [
  {
    name: 'two $addFields',
    documents: scores,
    aggregate: [
      { $addFields: { totalHomework: { $sum: '$homework' }, totalQuiz: { $sum: '$quiz' } } },
      { $addFields: { totalScore: { $add: ['$totalHomework', '$totalQuiz', '$extraCredit'] } } },
    ],
    gives: [
      { ...scores[0], totalHomework: 25, totalQuiz: 18, totalScore: 43 },
      { ...scores[1], totalHomework: 16, totalQuiz: 16, totalScore: 40 },
    ],
  },
  {
    name: '$addFields in an embedded document',
    documents: vehicles,
    aggregate: [{ $addFields: { 'specs.fuel': 'unleaded' } }],
    gives: [
      { _id: 1, type: 'car', specs: { doors: 4, wheels: 4, fuel: 'unleaded' } },
      { _id: 2, type: 'motorcycle', specs: { doors: 0, wheels: 2, fuel: 'unleaded' } },
      { _id: 3, type: 'jet ski', specs: { fuel: 'unleaded' } },
    ],
  },
  {
    name: '$addFields overwrites',
    documents: [{ _id: 1, dogs: 10, cats: 15 }],
    aggregate: [{ $addFields: { cats: 20 } }],
    gives: [{ _id: 1, dogs: 10, cats: 20 }],
  },
  {
    name: '$addFields overwrites _id',
    documents: [{ _id: 1, item: 'lemon', type: 'citrus' }],
    aggregate: [{ $addFields: { _id: '$item', item: 'fruit' } }],
    gives: [{ _id: 'lemon', item: 'fruit', type: 'citrus' }],
  },
  {
    name: '$addFields with $$REMOVE',
    documents: [
      { _id: 1, date: new Date(0), temperature: 80 },
      { _id: 2, date: null, temperature: 83 },
    ],
    aggregate: [{ $addFields: { date: { $ifNull: ['$date', '$$REMOVE'] } } }],
    gives: [
      { _id: 1, date: new Date(0), temperature: 80 },
      { _id: 2, temperature: 83 },
    ],
  },
  {
    name: '$addFields in documents of an array',
    documents: [{ _id: 1, a: [{ b: 1 }, 2, { c: 3 }] }],
    aggregate: [{ $addFields: { 'a.n': 9 } }],
    gives: [{ _id: 1, a: [{ b: 1, n: 9 }, { n: 9 }, { c: 3, n: 9 }] }],
  },
  {
    name: '$project includes',
    documents: [{ _id: 1, title: 'abc123', isbn: '0001122223334', author: { last: 'zzz', first: 'aaa' }, copies: 5 }],
    aggregate: [{ $project: { title: 1, author: 1 } }],
    gives: [{ _id: 1, title: 'abc123', author: { last: 'zzz', first: 'aaa' } }],
  },
  {
    name: '$project excludes embedded fields',
    documents: [{ _id: 1, title: 'abc123', author: { last: 'zzz', first: 'aaa' }, lastModified: 1 }],
    aggregate: [{ $project: { 'author.first': 0, lastModified: 0 } }],
    gives: [{ _id: 1, title: 'abc123', author: { last: 'zzz' } }],
  },
  {
    name: '$project drops an empty field',
    documents: [
      { _id: 1, author: { last: 'zzz', first: 'aaa', middle: '' } },
      { _id: 2, author: { last: 'xyz', first: 'abc' } },
    ],
    aggregate: [
      {
        $project: {
          'author.first': 1,
          'author.last': 1,
          'author.middle': { $cond: { if: { $eq: ['', '$author.middle'] }, then: '$$REMOVE', else: '$author.middle' } },
        },
      },
    ],
    gives: [
      { _id: 1, author: { last: 'zzz', first: 'aaa' } },
      { _id: 2, author: { last: 'xyz', first: 'abc' } },
    ],
  },
  {
    name: '$project of fields of embedded documents',
    documents: [
      { _id: 1, user: '1234', stop: { title: 'book1', author: 'xyz', page: 32 } },
      {
        _id: 2,
        user: '7890',
        stop: [
          { title: 'book2', author: 'abc', page: 5 },
          { title: 'book3', author: 'ijk', page: 100 },
        ],
      },
    ],
    aggregate: [{ $project: { stop: { title: 1 } } }],
    gives: [
      { _id: 1, stop: { title: 'book1' } },
      { _id: 2, stop: [{ title: 'book2' }, { title: 'book3' }] },
    ],
  },
  {
    name: '$project makes an array',
    documents: [{ _id: 1, x: 1, y: 1 }],
    aggregate: [{ $project: { myArray: ['$x', '$y', '$someField'] } }],
    gives: [{ _id: 1, myArray: [1, 1, null] }],
  },
  {
    name: '$unset',
    documents: [
      {
        _id: 1,
        isbn: '99',
        author: { last: 'a', first: 'b' },
        copies: [
          { warehouse: 'A', qty: 5 },
          { warehouse: 'B', qty: 15 },
        ],
      },
    ],
    aggregate: [{ $unset: ['isbn', 'author.first', 'copies.warehouse'] }],
    gives: [{ _id: 1, author: { last: 'a' }, copies: [{ qty: 5 }, { qty: 15 }] }],
  },
  {
    name: '$replaceRoot with an embedded document',
    documents: [
      { _id: 1, name: 'Arlene', pets: { dogs: 2, cats: 1 } },
      { _id: 2, name: 'Sam', pets: { cats: 1, hamsters: 3 } },
      { _id: 3, name: 'Maria' },
    ],
    aggregate: [{ $match: { pets: { $exists: true } } }, { $replaceRoot: { newRoot: '$pets' } }],
    gives: [
      { dogs: 2, cats: 1 },
      { cats: 1, hamsters: 3 },
    ],
  },
  {
    name: '$replaceRoot with a new document',
    documents: [{ _id: 1, first: 'Gary', last: 'Sheffield' }],
    aggregate: [{ $replaceRoot: { newRoot: { full_name: { $concat: ['$first', ' ', '$last'] } } } }],
    gives: [{ full_name: 'Gary Sheffield' }],
  },
  {
    name: '$replaceWith of $mergeObjects',
    documents: [
      { _id: 1, name: 'Fred', email: 'fred@example.net' },
      { _id: 2, name: 'Frank', cell: '012' },
    ],
    aggregate: [{ $replaceWith: { $mergeObjects: [{ _id: '', name: '', email: '', cell: '', home: '' }, '$$ROOT'] } }],
    gives: [
      { _id: 1, name: 'Fred', email: 'fred@example.net', cell: '', home: '' },
      { _id: 2, name: 'Frank', email: '', cell: '012', home: '' },
    ],
  },
  {
    name: '$redact by tags',
    documents: [
      {
        _id: 1,
        tags: ['G', 'STLW'],
        year: 2014,
        subsections: [
          { s: 1, tags: ['SI', 'G'] },
          { s: 2, tags: ['STLW'] },
          { s: 3, tags: ['TK'], content: { text: 'x', tags: ['HCS'] } },
        ],
      },
    ],
    aggregate: [
      { $match: { year: 2014 } },
      {
        $redact: {
          $cond: {
            if: { $gt: [{ $size: { $setIntersection: ['$tags', ['STLW', 'G']] } }, 0] },
            then: '$$DESCEND',
            else: '$$PRUNE',
          },
        },
      },
    ],
    gives: [
      {
        _id: 1,
        tags: ['G', 'STLW'],
        year: 2014,
        subsections: [
          { s: 1, tags: ['SI', 'G'] },
          { s: 2, tags: ['STLW'] },
        ],
      },
    ],
  },
  {
    name: '$redact excludes all at a level',
    documents: [{ _id: 1, level: 1, acct: 'xyz', cc: { level: 5, type: 'yy', addr: [{ level: 3 }] }, status: 'A' }],
    aggregate: [{ $redact: { $cond: { if: { $eq: ['$level', 5] }, then: '$$PRUNE', else: '$$DESCEND' } } }],
    gives: [{ _id: 1, level: 1, acct: 'xyz', status: 'A' }],
  },
]

t.test('reshaping stages give the documents of the manual', (t) => runExamples(t, shapes))
