/** $setWindowFields, with the examples of the manual's pages. */
import { Double } from 'mongodb'
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const double = (value: number): Double => new Double(value)

const cakes = [
  { _id: 0, type: 'chocolate', orderDate: new Date('2020-05-18T14:10:30Z'), state: 'CA', price: 13, quantity: 120 },
  { _id: 1, type: 'chocolate', orderDate: new Date('2021-03-20T11:30:05Z'), state: 'WA', price: 14, quantity: 140 },
  { _id: 2, type: 'vanilla', orderDate: new Date('2021-01-11T06:31:15Z'), state: 'CA', price: 12, quantity: 145 },
  { _id: 3, type: 'vanilla', orderDate: new Date('2020-02-08T13:13:23Z'), state: 'WA', price: 13, quantity: 104 },
  { _id: 4, type: 'strawberry', orderDate: new Date('2019-05-18T16:09:01Z'), state: 'CA', price: 41, quantity: 162 },
  { _id: 5, type: 'strawberry', orderDate: new Date('2019-01-08T06:12:03Z'), state: 'WA', price: 43, quantity: 134 },
]
const orderedAt = (id: number): Date => cakes[id]!.orderDate

/**
 * An example over the cakes. @param gives the values of the window function by _id, in the order of
 * the result
 */
function overCakes(name: string, stage: object, gives: readonly (readonly [id: number, value: unknown])[]): Example {
  return {
    name,
    documents: cakes,
    aggregate: [{ $setWindowFields: stage }, { $project: { v: 1 } }],
    gives: gives.map(([_id, v]) => ({ _id, v })),
    order: 'sorted',
  }
}

const byState = { partitionBy: '$state', sortBy: { orderDate: 1 } }
const byYear = { partitionBy: { $year: '$orderDate' }, sortBy: { orderDate: 1 } }
const byQuantity = { partitionBy: '$state', sortBy: { quantity: -1 } }
const untilNow = { documents: ['unbounded', 'current'] }

const windows: readonly Example[] = [
  overCakes('a running sum for each state', { ...byState, output: { v: { $sum: '$quantity', window: untilNow } } }, [
    [4, 162],
    [0, 282],
    [2, 427],
    [5, 134],
    [3, 238],
    [1, 378],
  ]),
  overCakes('a running sum for each year', { ...byYear, output: { v: { $sum: '$quantity', window: untilNow } } }, [
    [5, 134],
    [4, 296],
    [3, 104],
    [0, 224],
    [2, 145],
    [1, 285],
  ]),
  overCakes('a moving average', { ...byYear, output: { v: { $avg: '$quantity', window: { documents: [-1, 0] } } } }, [
    [5, double(134)],
    [4, double(148)],
    [3, double(104)],
    [0, double(112)],
    [2, double(145)],
    [1, 142.5],
  ]),
  overCakes(
    'the maximum of a partition',
    { ...byYear, output: { v: { $max: '$quantity', window: { documents: ['unbounded', 'unbounded'] } } } },
    [
      [5, 162],
      [4, 162],
      [3, 120],
      [0, 120],
      [2, 145],
      [1, 145],
    ],
  ),
  overCakes(
    'a range of numbers',
    { partitionBy: '$state', sortBy: { price: 1 }, output: { v: { $sum: '$quantity', window: { range: [-10, 10] } } } },
    [
      [2, 265],
      [0, 265],
      [4, 162],
      [3, 244],
      [1, 244],
      [5, 134],
    ],
  ),
  overCakes(
    'a range of months after',
    { ...byState, output: { v: { $push: '$orderDate', window: { range: ['unbounded', 10], unit: 'month' } } } },
    [
      [4, [orderedAt(4)]],
      [0, [orderedAt(4), orderedAt(0), orderedAt(2)]],
      [2, [orderedAt(4), orderedAt(0), orderedAt(2)]],
      [5, [orderedAt(5)]],
      [3, [orderedAt(5), orderedAt(3)]],
      [1, [orderedAt(5), orderedAt(3), orderedAt(1)]],
    ],
  ),
  overCakes(
    'a range of months before',
    { ...byState, output: { v: { $push: '$orderDate', window: { range: ['unbounded', -10], unit: 'month' } } } },
    [
      [4, []],
      [0, [orderedAt(4)]],
      [2, [orderedAt(4)]],
      [5, []],
      [3, [orderedAt(5)]],
      [1, [orderedAt(5), orderedAt(3)]],
    ],
  ),
  overCakes(
    '$shift to the next',
    { ...byQuantity, output: { v: { $shift: { output: '$quantity', by: 1, default: 'Not available' } } } },
    [
      [4, 145],
      [2, 120],
      [0, 'Not available'],
      [1, 134],
      [5, 104],
      [3, 'Not available'],
    ],
  ),
  overCakes(
    '$shift to the one before',
    { ...byQuantity, output: { v: { $shift: { output: '$quantity', by: -1, default: 'Not available' } } } },
    [
      [4, 'Not available'],
      [2, 162],
      [0, 145],
      [1, 'Not available'],
      [5, 140],
      [3, 134],
    ],
  ),
  overCakes('$shift without default', { ...byQuantity, output: { v: { $shift: { output: '$quantity', by: 2 } } } }, [
    [4, 120],
    [2, null],
    [0, null],
    [1, 104],
    [5, null],
    [3, null],
  ]),
  overCakes(
    '$covariancePop',
    { ...byState, output: { v: { $covariancePop: [{ $year: '$orderDate' }, '$quantity'], window: untilNow } } },
    [
      [4, double(0)],
      [0, -10.5],
      [2, -5.666666666666671],
      [5, double(0)],
      [3, -7.5],
      [1, double(2)],
    ],
  ),
  overCakes(
    '$covarianceSamp of one document is null',
    { ...byState, output: { v: { $covarianceSamp: [{ $year: '$orderDate' }, '$quantity'], window: untilNow } } },
    [
      [4, null],
      [0, double(-21)],
      [2, -8.500000000000007],
      [5, null],
      [3, double(-15)],
      [1, double(3)],
    ],
  ),
  overCakes('$documentNumber', { ...byQuantity, output: { v: { $documentNumber: {} } } }, [
    [4, 1],
    [2, 2],
    [0, 3],
    [1, 1],
    [5, 2],
    [3, 3],
  ]),
  overCakes('$rank', { ...byQuantity, output: { v: { $rank: {} } } }, [
    [4, 1],
    [2, 2],
    [0, 3],
    [1, 1],
    [5, 2],
    [3, 3],
  ]),
  overCakes('$count of a window', { ...byState, output: { v: { $count: {}, window: untilNow } } }, [
    [4, 1],
    [0, 2],
    [2, 3],
    [5, 1],
    [3, 2],
    [1, 3],
  ]),
  overCakes(
    '$addToSet of an empty window',
    { ...byState, output: { v: { $addToSet: '$type', window: { documents: [-2, -2] } } } },
    [
      [4, []],
      [0, []],
      [2, ['strawberry']],
      [5, []],
      [3, []],
      [1, ['strawberry']],
    ],
  ),
  overCakes(
    '$first and a lower bound',
    { ...byState, output: { v: { $first: '$quantity', window: { documents: [-1, 0] } } } },
    [
      [4, 162],
      [0, 162],
      [2, 120],
      [5, 134],
      [3, 134],
      [1, 104],
    ],
  ),
  overCakes(
    '$topN of a window',
    { ...byState, output: { v: { $topN: { n: 2, sortBy: { price: -1 }, output: '$price' }, window: untilNow } } },
    [
      [4, [41]],
      [0, [41, 13]],
      [2, [41, 13]],
      [5, [43]],
      [3, [43, 13]],
      [1, [43, 14]],
    ],
  ),
  {
    name: '$rank and $denseRank of equal values',
    documents: [90, 80, 90, 70].map((score, i) => ({ _id: i, score })),
    aggregate: [
      { $setWindowFields: { sortBy: { score: -1 }, output: { rank: { $rank: {} }, dense: { $denseRank: {} } } } },
    ],
    gives: [
      { _id: 0, score: 90, rank: 1, dense: 1 },
      { _id: 2, score: 90, rank: 1, dense: 1 },
      { _id: 1, score: 80, rank: 3, dense: 2 },
      { _id: 3, score: 70, rank: 4, dense: 3 },
    ],
  },
  ...(
    [
      [
        { N: 2 },
        [
          double(13),
          14.6,
          12.866666666666667,
          12.088888888888889,
          double(82),
          double(90),
          104.66666666666667,
          99.75555555555556,
        ],
      ],
      [{ alpha: 0.75 }, [double(13), 14.8, 12.7, 11.95, double(82), double(91), 106.75, 99.6625]],
    ] as const
  ).map(([weight, gives]): Example => ({
    name: `$expMovingAvg ${JSON.stringify(weight)}`,
    documents: [double(13), 15.4, double(12), 11.7, double(82), double(94), double(112), 97.3].map((price, i) => ({
      _id: i,
      stock: i < 4 ? 'MDB' : 'MSFT',
      date: new Date(Date.UTC(2020, 4, 18 + (i % 4), 20)),
      price,
    })),
    aggregate: [
      {
        $setWindowFields: {
          partitionBy: '$stock',
          sortBy: { date: 1 },
          output: { v: { $expMovingAvg: { input: '$price', ...weight } } },
        },
      },
      { $project: { v: 1 } },
    ],
    gives: gives.map((v, _id) => ({ _id, v })),
    order: 'sorted',
  })),
  {
    name: '$derivative',
    documents: [1295.1, 1295.63, 1296.25, 1296.76, 10234.1, 10234.33, 10234.73, 10235.13].map((miles, i) => ({
      _id: i,
      truckID: i < 4 ? '1' : '2',
      timeStamp: new Date(Date.UTC(2020, 4, 18, 14, 10, 30 + 30 * (i % 4))),
      miles,
    })),
    aggregate: [
      {
        $setWindowFields: {
          partitionBy: '$truckID',
          sortBy: { timeStamp: 1 },
          output: {
            speed: { $derivative: { input: '$miles', unit: 'hour' }, window: { range: [-30, 0], unit: 'second' } },
          },
        },
      },
      { $match: { speed: { $gt: 50 } } },
      { $project: { speed: 1 } },
    ],
    gives: [
      { _id: 1, speed: 63.60000000002401 },
      { _id: 2, speed: 74.3999999999869 },
      { _id: 3, speed: 61.199999999998916 },
    ],
    order: 'sorted',
  },
  {
    name: '$integral',
    documents: [2.95, 2.7, 2.6, 2.98, 2.5, 2.25, 2.75, 2.82].map((kilowatts, i) => ({
      _id: i,
      meter: i < 4 ? '1' : '2',
      timeStamp: new Date(Date.UTC(2020, 4, 18, 14, 10, 30 + 30 * (i % 4))),
      kilowatts,
    })),
    aggregate: [
      {
        $setWindowFields: {
          partitionBy: '$meter',
          sortBy: { timeStamp: 1 },
          output: {
            v: {
              $integral: { input: '$kilowatts', unit: 'hour' },
              window: { range: ['unbounded', 'current'], unit: 'hour' },
            },
          },
        },
      },
      { $project: { v: 1 } },
    ],
    gives: [
      double(0),
      0.023541666666666666,
      0.045625,
      0.068875,
      double(0),
      0.019791666666666666,
      0.040625,
      0.06383333333333334,
    ].map((v, _id) => ({ _id, v })),
    order: 'sorted',
  },
]

t.test('$setWindowFields gives the documents of the manual', (t) => runExamples(t, windows))
