/** $unwind, $bucket, $bucketAuto, $facet and $count, with the examples of the manual's pages. */
import { Decimal128, Double, Long } from 'mongodb'
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const double = (value: number): Double => new Double(value)
const long = (value: number): Long => Long.fromNumber(value)
const decimal = (value: string): Decimal128 => Decimal128.fromString(value)

const inventory = [
  { _id: 1, item: 'ABC', price: decimal('80'), sizes: ['S', 'M', 'L'] },
  { _id: 2, item: 'EFG', price: decimal('120'), sizes: [] },
  { _id: 3, item: 'IJK', price: decimal('160'), sizes: 'M' },
  { _id: 4, item: 'LMN', price: decimal('10') },
  { _id: 5, item: 'XYZ', price: decimal('5.75'), sizes: null },
]
const first = { _id: 1, item: 'ABC', price: decimal('80') }
const third = { _id: 3, item: 'IJK', price: decimal('160') }

const unwinds: readonly Example[] = [
  {
    name: '$unwind',
    documents: inventory,
    aggregate: [{ $unwind: '$sizes' }],
    gives: [...['S', 'M', 'L'].map((sizes) => ({ ...first, sizes })), { ...third, sizes: 'M' }],
  },
  {
    name: '$unwind with the index',
    documents: inventory,
    aggregate: [{ $unwind: { path: '$sizes', includeArrayIndex: 'at' } }],
    gives: [
      ...['S', 'M', 'L'].map((sizes, i) => ({ ...first, sizes, at: long(i) })),
      { ...third, sizes: 'M', at: null },
    ],
  },
  {
    name: '$unwind keeps documents without an array',
    documents: inventory,
    aggregate: [{ $unwind: { path: '$sizes', preserveNullAndEmptyArrays: true } }],
    gives: [
      ...['S', 'M', 'L'].map((sizes) => ({ ...first, sizes })),
      { _id: 2, item: 'EFG', price: decimal('120') },
      { ...third, sizes: 'M' },
      inventory[3]!,
      inventory[4]!,
    ],
  },
  {
    name: '$unwind, then groups',
    documents: inventory,
    aggregate: [
      { $unwind: { path: '$sizes', preserveNullAndEmptyArrays: true } },
      { $group: { _id: '$sizes', averagePrice: { $avg: '$price' } } },
      { $sort: { averagePrice: -1, _id: 1 } },
    ],
    gives: [
      { _id: 'M', averagePrice: decimal('120') },
      { _id: 'L', averagePrice: decimal('80') },
      { _id: 'S', averagePrice: decimal('80') },
      { _id: null, averagePrice: decimal('45.25') },
    ],
    order: 'sorted',
  },
  {
    name: '$unwind twice',
    documents: [
      {
        _id: '1',
        items: [
          { tags: ['writing', 'office'], price: decimal('12.00'), quantity: 5 },
          { tags: ['office'], price: decimal('19.95'), quantity: 8 },
        ],
      },
      { _id: '2', items: [{ tags: ['office', 'electronics'], price: decimal('800.00'), quantity: 1 }] },
    ],
    aggregate: [
      { $unwind: '$items' },
      { $unwind: '$items.tags' },
      { $group: { _id: '$items.tags', total: { $sum: { $multiply: ['$items.price', '$items.quantity'] } } } },
    ],
    gives: [
      { _id: 'writing', total: decimal('60.00') },
      { _id: 'electronics', total: decimal('800.00') },
      { _id: 'office', total: decimal('1019.60') },
    ],
    order: 'any',
  },
]

const artists = [
  [1, 'Bernard', 1868],
  [2, 'Rippl-Ronai', 1861],
  [3, 'Ostroumova', 1871],
  [4, 'Van Gogh', 1853],
  [5, 'Maurer', 1868],
  [6, 'Munch', 1863],
  [7, 'Redon', 1840],
  [8, 'Diriks', 1855],
].map(([_id, name, born]) => ({ _id, name, born }))
const things = Array.from({ length: 100 }, (_, i) => ({ _id: i }))
const auto = (
  name: string,
  more: object,
  gives: readonly (readonly [number | Double, number | Double, number])[],
): Example => ({
  name: `$bucketAuto, ${name}`,
  documents: things,
  aggregate: [{ $bucketAuto: { groupBy: '$_id', buckets: 5, ...more } }],
  gives: gives.map(([min, max, count]) => ({ _id: { min, max }, count })),
  order: 'sorted',
})
const d = double

const buckets: readonly Example[] = [
  {
    name: '$bucket, then filtered',
    documents: artists,
    aggregate: [
      {
        $bucket: {
          groupBy: '$born',
          boundaries: [1840, 1850, 1860, 1870, 1880],
          default: 'Other',
          output: { count: { $sum: 1 }, artists: { $push: '$name' } },
        },
      },
      { $match: { count: { $gt: 3 } } },
    ],
    gives: [{ _id: 1860, count: 4, artists: ['Bernard', 'Rippl-Ronai', 'Maurer', 'Munch'] }],
    sets: ['artists'],
  },
  {
    name: '$bucket counts',
    documents: [...artists, { _id: 9, name: 'unknown' }],
    aggregate: [{ $bucket: { groupBy: '$born', boundaries: [1840, 1850, 1870], default: 'Other' } }],
    gives: [
      { _id: 1840, count: 1 },
      { _id: 1850, count: 6 },
      { _id: 'Other', count: 2 },
    ],
    order: 'sorted',
  },
  auto('no granularity', {}, [
    [0, 20, 20],
    [20, 40, 20],
    [40, 60, 20],
    [60, 80, 20],
    [80, 99, 20],
  ]),
  auto('R20', { granularity: 'R20' }, [
    [0, d(20), 20],
    [d(20), d(40), 20],
    [d(40), d(63), 23],
    [d(63), d(90), 27],
    [d(90), d(100), 10],
  ]),
  auto('E24', { granularity: 'E24' }, [
    [0, d(20), 20],
    [d(20), d(43), 23],
    [d(43), d(68), 25],
    [d(68), d(91), 23],
    [d(91), d(100), 9],
  ]),
  auto('1-2-5', { granularity: '1-2-5' }, [
    [0, d(20), 20],
    [d(20), d(50), 30],
    [d(50), d(100), 50],
  ]),
  auto('POWERSOF2', { granularity: 'POWERSOF2' }, [
    [0, 32, 32],
    [32, 64, 32],
    [64, 128, 36],
  ]),
  {
    name: '$bucketAuto of decimals',
    documents: ['199.99', '280.00', '76.04', '167.30', '483.00', '385.00', '159.00', '118.42'].map((price, i) => ({
      _id: i,
      price: decimal(price),
    })),
    aggregate: [{ $bucketAuto: { groupBy: '$price', buckets: 4 } }],
    gives: [
      ['76.04', '159.00'],
      ['159.00', '199.99'],
      ['199.99', '385.00'],
      ['385.00', '483.00'],
    ].map(([min, max]) => ({ _id: { min: decimal(min!), max: decimal(max!) }, count: 2 })),
    order: 'sorted',
  },
  {
    name: '$facet',
    documents: [
      { _id: 1, tags: ['a', 'b'], price: 10 },
      { _id: 2, tags: ['a'], price: 30 },
      { _id: 3, tags: [] },
    ],
    aggregate: [
      {
        $facet: {
          byTag: [{ $unwind: '$tags' }, { $sortByCount: '$tags' }],
          byPrice: [{ $match: { price: { $exists: 1 } } }, { $bucket: { groupBy: '$price', boundaries: [0, 20, 40] } }],
          none: [{ $match: { price: 0 } }, { $count: 'n' }],
        },
      },
    ],
    gives: [
      {
        byTag: [
          { _id: 'a', count: 2 },
          { _id: 'b', count: 1 },
        ],
        byPrice: [
          { _id: 0, count: 1 },
          { _id: 20, count: 1 },
        ],
        none: [],
      },
    ],
  },
  {
    name: '$count',
    documents: things,
    aggregate: [{ $match: { _id: { $gt: 79 } } }, { $count: 'passing' }],
    gives: [{ passing: 20 }],
  },
  {
    name: '$count of no documents',
    documents: things,
    aggregate: [{ $match: { _id: 'x' } }, { $count: 'passing' }],
    gives: [],
  },
]

for (const [family, examples] of Object.entries({ unwinds, buckets }))
  t.test(`examples of ${family} give the documents of the manual`, (t) => runExamples(t, examples))
