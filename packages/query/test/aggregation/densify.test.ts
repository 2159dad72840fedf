import { decode, encode, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { languageOf } from '../../src/index.js'
import { aggregate, context, failure, json, run } from '../support/helpers.js'

const densify = (specification: Document, input: Document[]) => aggregate([{ $densify: specification }], input)
const hour = (number: number) => new Date(Date.UTC(2021, 4, 18, number))

/** `x` of every document, with `*` for generated ones. */
function steps(specification: Document, input: Document[]): string {
  return densify(specification, input)
    .map(
      (document) =>
        `${document.g ?? ''}${document.x instanceof Date ? document.x.toISOString().slice(0, 13) : document.x}${document._id === undefined ? '*' : ''}`,
    )
    .join(' ')
}

const xs = (...values: unknown[]) => values.map((x, _id) => ({ _id, x }))

t.test('the bounds `full` reach from the lowest to the highest value', (t) => {
  const full = (step: number) => ({ field: 'x', range: { step, bounds: 'full' } })
  t.equal(steps(full(1), xs(3, 1, 6)), '1 2* 3 4* 5* 6')
  t.equal(steps(full(2), xs(0, 3, 4, 9)), '0 2* 3 4 6* 8* 9')
  t.equal(steps(full(1), []), '')
  t.equal(steps(full(1), xs(5)), '5')
  t.same(
    densify(full(1), [{ _id: 1 }, { _id: 2, x: null }, { _id: 3, x: 1 }, { _id: 4, x: 3 }]).map(json),
    [{ _id: 1 }, { _id: 2, x: null }, { _id: 3, x: 1 }, { x: 2 }, { _id: 4, x: 3 }].map(json),
    'documents without a value pass through',
  )
  t.end()
})

t.test('the upper one of explicit bounds is excluded', (t) => {
  const within = (low: number, high: number, step = 1) => ({ field: 'x', range: { step, bounds: [low, high] } })
  t.equal(steps(within(2, 6), xs(1, 4, 9)), '1 2* 3* 4 5* 9')
  t.equal(steps(within(0, 3), []), '0* 1* 2*')
  t.equal(steps(within(0, 3), xs(10)), '0* 1* 2* 10')
  t.equal(steps(within(0, 3), xs(-5)), '-5 0* 1* 2*')
  t.equal(steps(within(0, 10, 5), xs(0, 3, 5, 7, 12)), '0 3 5 7 12')
  t.end()
})

t.test('explicit bounds apply to each partition', (t) => {
  const within = (low: number, high: number) => ({
    field: 'x',
    partitionByFields: ['g'],
    range: { step: 1, bounds: [low, high] },
  })
  t.equal(
    steps(
      within(4, 8),
      [2, 4, 6].map((x, _id) => ({ _id, g: 'a', x })),
    ),
    'a2 a4 a5* a6 a7*',
    'a value below the bounds is not a step',
  )
  t.equal(steps(within(4, 6), [{ _id: 1, g: 'a', x: 2 }]), 'a2 a4* a5*')
  t.equal(steps(within(4, 6), [{ _id: 1, g: 'a', x: 9 }]), 'a4* a5* a9')
  t.equal(steps(within(4, 6), []), '4* 5*', 'no partition at all')
  t.end()
})

t.test('equal bounds are empty since 8.0 and contain one value before', (t) => {
  const specification = { field: 'x', range: { step: 1, bounds: [10, 10] } }
  t.equal(steps(specification, xs(9, 11)), '9 11')
  t.equal(steps(specification, []), '')
  const before = run([encode({ $densify: specification })], xs(9, 11).map(encode), {
    ...context,
    language: languageOf('7.0'),
  })
  t.same(
    before.map((bytes) => decode(bytes).x),
    [9, 10, 11],
    'before 8.0 they contain one value',
  )
  t.end()
})

t.test('dates are stepped through by units of time', (t) => {
  const range = { step: 1, unit: 'hour', bounds: [hour(0), hour(4)] }
  t.equal(
    steps({ field: 'x', range }, xs(hour(0), hour(3))),
    '2021-05-18T00 2021-05-18T01* 2021-05-18T02* 2021-05-18T03',
  )
  const months = { step: 1, unit: 'month', bounds: 'full' }
  t.equal(
    steps({ field: 'x', range: months }, xs(new Date(Date.UTC(2020, 0, 31)), new Date(Date.UTC(2020, 3, 30)))),
    '2020-01-31T00 2020-02-29T00* 2020-03-29T00* 2020-04-29T00* 2020-04-30T00',
  )
  t.end()
})

t.test("partitions give the documents of the manual's example", (t) => {
  const coffee = [
    { _id: 1, g: 'A', x: 600, score: 68.3 },
    { _id: 2, g: 'A', x: 750, score: 69.5 },
    { _id: 3, g: 'A', x: 950, score: 70.5 },
    { _id: 4, g: 'B', x: 600, score: 68.3 },
    { _id: 5, g: 'B', x: 700, score: 69.5 },
    { _id: 6, g: 'B', x: 1050, score: 71.1 },
  ]
  t.equal(
    steps({ field: 'x', partitionByFields: ['g'], range: { bounds: 'full', step: 200 } }, coffee)
      .split(' ')
      .toSorted()
      .join(' '),
    'A1000* A600 A750 A800* A950 B1000* B1050 B600 B700 B800*',
    'full: from the lowest to the highest value of all partitions',
  )
  t.equal(
    steps({ field: 'x', partitionByFields: ['g'], range: { bounds: 'partition', step: 200 } }, coffee),
    'A600 A750 A800* A950 B600 B700 B800* B1000* B1050',
    'partition: within each partition',
  )
  t.equal(
    steps({ field: 'x', partitionByFields: ['g'], range: { bounds: [600, 1000], step: 200 } }, coffee),
    'A600 A750 A800* A950 B600 B700 B800* B1050',
  )
  t.end()
})

t.test('generated documents have the fields of their partition', (t) => {
  const made = densify(
    { field: 'a.x', partitionByFields: ['a.g', 'h'], range: { step: Long.fromNumber(1), bounds: 'partition' } },
    [
      { _id: 1, h: 1, a: { g: 'p', x: 1 } },
      { _id: 2, h: 1, a: { g: 'p', x: 3 } },
    ],
  ).filter((document) => document._id === undefined)
  t.same(made.map(json), [json({ a: { g: 'p', x: Long.fromNumber(2) }, h: 1 })])
  t.end()
})

t.test('invalid arguments are refused with the code of the server', (t) => {
  const rows: [specification: Document | number, input: Document[], code: number][] = [
    [1, [], 9],
    [{ range: { step: 1, bounds: 'full' } }, [], 40414],
    [{ field: 'x', range: { step: 1, bounds: 'full' }, foo: 1 }, [], 40415],
    [{ field: 'x', range: { step: 'a', bounds: 'full' } }, [], 14],
    [{ field: 'x', range: { step: 0, bounds: 'full' } }, [], 5733401],
    [{ field: 'x', range: { step: 1.5, unit: 'day', bounds: 'full' } }, [], 6586400],
    [{ field: 'x', range: { step: 1, unit: 'eon', bounds: 'full' } }, [], 9],
    [{ field: 'x', range: { step: 1, bounds: 'half' } }, [], 5946802],
    [{ field: 'x', range: { step: 1, bounds: 5 } }, [], 5733404],
    [{ field: 'x', range: { step: 1, bounds: [1] } }, [], 5733403],
    [{ field: 'x', range: { step: 1, bounds: [2, 1] } }, [], 5733402],
    [{ field: 'x', range: { step: 1, bounds: [1, hour(1)] } }, [], 5733406],
    [{ field: 'x', range: { step: 1, bounds: [1, 2.5] } }, [], 5876900],
    [{ field: 'x', range: { step: 1, unit: 'day', bounds: [1, 2] } }, [], 5733409],
    [{ field: 'x', range: { step: 1, bounds: [hour(1), hour(2)] } }, [], 5733410],
    [{ field: 'x', range: { step: 1, bounds: ['a', 'b'] } }, [], 5946800],
    [{ field: 'x', range: { step: 1, bounds: 'partition' } }, [], 5733408],
    [{ field: 'x', range: { step: 1, bounds: 'full' } }, [{ x: 'a' }], 5733201],
    [{ field: 'x', range: { step: 1, bounds: 'full' } }, [{ x: hour(1) }], 6053600],
    [{ field: 'x', range: { step: 1, unit: 'day', bounds: 'full' } }, [{ x: 1 }], 6053600],
    [{ field: 'x', range: { step: 1, bounds: [0, 1_000_000] } }, [], 5897900],
    [{ field: 'g.x', partitionByFields: ['g'], range: { step: 1, bounds: 'partition' } }, [{ g: { x: 1 } }], 9554500],
    [{ field: 'g', partitionByFields: ['g'], range: { step: 1, bounds: 'full' } }, [], 8993000],
    [{ field: 'g', partitionByFields: ['g.x'], range: { step: 1, bounds: 'full' } }, [], 8993000],
    [{ field: 'gx', partitionByFields: ['g'], range: { step: 1, bounds: 'full' } }, [], 0],
  ]
  for (const [specification, input, code] of rows) {
    const error = failure(() => aggregate([{ $densify: specification }], input))
    t.equal(error?.code ?? 0, code, JSON.stringify(specification))
  }
  t.end()
})
