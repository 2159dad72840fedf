/** $fill and $densify, with the examples of the manual's pages. */
import { Double } from 'mongodb'
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const double = (value: number): Double => new Double(value)

const fills: readonly Example[] = [
  {
    name: '$fill with a constant',
    documents: [
      { _id: 1, bootsSold: 10, sandalsSold: 20, sneakersSold: 12 },
      { _id: 2, bootsSold: 7, sneakersSold: 18 },
      { _id: 3, sneakersSold: 5 },
    ],
    aggregate: [
      { $fill: { output: { bootsSold: { value: 0 }, sandalsSold: { value: 0 }, sneakersSold: { value: 0 } } } },
    ],
    gives: [
      { _id: 1, bootsSold: 10, sandalsSold: 20, sneakersSold: 12 },
      { _id: 2, bootsSold: 7, sneakersSold: 18, sandalsSold: 0 },
      { _id: 3, sneakersSold: 5, bootsSold: 0, sandalsSold: 0 },
    ],
  },
  {
    name: '$fill linear',
    documents: [500, undefined, 515, undefined, undefined, 485].map((price, i) => ({
      _id: i,
      time: new Date(Date.UTC(2021, 2, 8, 9 + i)),
      ...(price === undefined ? {} : { price }),
    })),
    aggregate: [
      { $fill: { sortBy: { time: 1 }, output: { price: { method: 'linear' } } } },
      { $project: { price: 1 } },
    ],
    gives: [500, 507.5, 515, double(505), double(495), 485].map((price, _id) => ({ _id, price })),
    order: 'sorted',
  },
  {
    name: '$fill linear, from one side only',
    documents: [null, 0, null, null, null, 10, null].map((value, i) => ({ _id: i, value })),
    aggregate: [{ $fill: { sortBy: { _id: 1 }, output: { value: { method: 'linear' } } } }],
    gives: [null, 0, 2.5, double(5), 7.5, 10, null].map((value, _id) => ({ _id, value })),
    order: 'sorted',
  },
  {
    name: '$fill locf',
    documents: [90, 92, undefined, undefined, 85, undefined].map((score, i) => ({
      _id: i,
      date: new Date(Date.UTC(2021, 2, 8 + i)),
      ...(score === undefined ? {} : { score }),
    })),
    aggregate: [{ $fill: { sortBy: { date: 1 }, output: { score: { method: 'locf' } } } }, { $project: { score: 1 } }],
    gives: [90, 92, 92, 92, 85, 85].map((score, _id) => ({ _id, score })),
    order: 'sorted',
  },
  {
    name: '$fill in partitions',
    documents: [
      { _id: 0, restaurant: 'Joe', score: 90 },
      { _id: 1, restaurant: 'Sally', score: 75 },
      { _id: 2, restaurant: 'Joe' },
      { _id: 3, restaurant: 'Sally' },
    ],
    aggregate: [
      {
        $fill: {
          sortBy: { _id: 1 },
          partitionBy: { restaurant: '$restaurant' },
          output: { score: { method: 'locf' } },
        },
      },
    ],
    gives: [
      { _id: 0, restaurant: 'Joe', score: 90 },
      { _id: 2, restaurant: 'Joe', score: 90 },
      { _id: 1, restaurant: 'Sally', score: 75 },
      { _id: 3, restaurant: 'Sally', score: 75 },
    ],
    order: 'sorted',
  },
  {
    name: '$locf and $linearFill',
    documents: [
      { _id: 0, t: 0, p: 500 },
      { _id: 1, t: 1 },
      { _id: 2, t: 2, p: 515 },
      { _id: 3, t: 3, p: null },
      { _id: 4, t: 4 },
      { _id: 5, t: 5, p: 485 },
    ],
    aggregate: [
      { $setWindowFields: { sortBy: { t: 1 }, output: { locf: { $locf: '$p' }, linear: { $linearFill: '$p' } } } },
      { $project: { locf: 1, linear: 1 } },
    ],
    gives: [
      { _id: 0, locf: 500, linear: 500 },
      { _id: 1, locf: 500, linear: 507.5 },
      { _id: 2, locf: 515, linear: 515 },
      { _id: 3, locf: 515, linear: double(505) },
      { _id: 4, locf: 515, linear: double(495) },
      { _id: 5, locf: 485, linear: 485 },
    ],
    order: 'sorted',
  },
]

const at = (hour: number): Date => new Date(Date.UTC(2021, 4, 18, hour))
const coffee = [
  { _id: 1, altitude: 600, variety: 'Arabica', score: 68.3 },
  { _id: 2, altitude: 750, variety: 'Arabica', score: 69.5 },
  { _id: 3, altitude: 950, variety: 'Arabica', score: 70.5 },
  { _id: 4, altitude: 1250, variety: 'Gesha', score: 88.15 },
  { _id: 5, altitude: 1700, variety: 'Gesha', score: 95.5 },
]
const gap = (variety: string, altitude: number): object => ({ variety, altitude })

const densified: readonly Example[] = [
  {
    name: '$densify hours between bounds',
    documents: [0, 4, 8, 12].map((hour, i) => ({ _id: i, timestamp: at(hour), temp: 11 })),
    aggregate: [{ $densify: { field: 'timestamp', range: { step: 1, unit: 'hour', bounds: [at(0), at(8)] } } }],
    gives: [
      { _id: 0, timestamp: at(0), temp: 11 },
      ...[1, 2, 3].map((hour) => ({ timestamp: at(hour) })),
      { _id: 1, timestamp: at(4), temp: 11 },
      ...[5, 6, 7].map((hour) => ({ timestamp: at(hour) })),
      { _id: 2, timestamp: at(8), temp: 11 },
      { _id: 3, timestamp: at(12), temp: 11 },
    ],
    order: 'sorted',
  },
  {
    name: '$densify the full range of partitions',
    documents: coffee,
    aggregate: [
      { $densify: { field: 'altitude', partitionByFields: ['variety'], range: { bounds: 'full', step: 200 } } },
    ],
    gives: [
      ...coffee,
      gap('Arabica', 800),
      ...[600, 800, 1000, 1200, 1400, 1600].map((altitude) => gap('Gesha', altitude)),
      ...[1000, 1200, 1400, 1600].map((altitude) => gap('Arabica', altitude)),
    ],
    order: 'any',
  },
  {
    name: '$densify within each partition',
    documents: coffee,
    aggregate: [
      { $densify: { field: 'altitude', partitionByFields: ['variety'], range: { bounds: 'partition', step: 200 } } },
    ],
    gives: [...coffee, gap('Arabica', 800), gap('Gesha', 1450), gap('Gesha', 1650)],
    order: 'any',
  },
  {
    // SERVER-82446
    name: '$densify of a partition that begins below the bounds',
    documents: [2, 4, 6].map((num) => ({ _id: num, key: 1, num })),
    aggregate: [
      { $densify: { field: 'num', partitionByFields: ['key'], range: { step: 1, bounds: [4, 8] } } },
      { $sort: { num: 1 } },
      { $project: { _id: 0, num: 1 } },
    ],
    gives: [2, 4, 5, 6, 7].map((num) => ({ num })),
    order: 'sorted',
  },
  {
    name: '$densify of partitions that never reach the bounds, or begin within them',
    documents: [
      { _id: 1, key: 'a', num: 2 },
      { _id: 2, key: 'b', num: 5 },
      { _id: 3, key: 'c', num: 9 },
    ],
    aggregate: [
      { $densify: { field: 'num', partitionByFields: ['key'], range: { step: 1, bounds: [4, 6] } } },
      { $project: { _id: 0 } },
    ],
    gives: [
      { key: 'a', num: 2 },
      { key: 'a', num: 4 },
      { key: 'a', num: 5 },
      { key: 'b', num: 4 },
      { key: 'b', num: 5 },
      { key: 'c', num: 4 },
      { key: 'c', num: 5 },
      { key: 'c', num: 9 },
    ],
    order: 'any',
  },
  {
    name: '$densify of partitions without any document',
    documents: [{ _id: 1, other: true }],
    aggregate: [{ $densify: { field: 'num', partitionByFields: ['key'], range: { step: 1, bounds: [4, 6] } } }],
    gives: [{ _id: 1, other: true }, { num: 4 }, { num: 5 }],
    order: 'any',
  },
  {
    name: '$densify between equal bounds adds nothing',
    documents: [
      { _id: 1, v: 9 },
      { _id: 2, v: 11 },
    ],
    aggregate: [{ $densify: { field: 'v', range: { step: 1, bounds: [10, 10] } } }],
    gives: [
      { _id: 1, v: 9 },
      { _id: 2, v: 11 },
    ],
    order: 'any',
  },
]

for (const [family, examples] of Object.entries({ fills, densified }))
  t.test(`examples of ${family} give the documents of the manual`, (t) => runExamples(t, examples))
