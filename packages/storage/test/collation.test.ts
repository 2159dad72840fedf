import fc from 'fast-check'
import t from 'tap'
import { decode, encode, type Document } from '@shardlab/bson'
import { compileCollation, compileFilter, parseSort, sortOrder } from '@shardlab/query'
import { createMemoryEngine, executePlan, prepareIndex, type Collection } from '../src/index.js'
import { labelBetween, StringLabels } from '../src/collation/string-labels.js'
import { check } from '@shardlab/bson/testing'
import { collectionOf } from './support/collection.js'
import { applyAll, createIndexOf, createOf, deleteOf, insertOf, updateOf } from './support/log.js'
import { contextOf, errorOf, find, planOf } from './support/query.js'
import { bytesOf, stateOf } from './support/state.js'

const caseless = { locale: 'en', strength: 2 }

t.test('labels are in the order of the strings', async () => {
  const compare = compileCollation(encode(caseless))!.compare
  check(
    fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 60 }), (texts) => {
      const labels = new StringLabels(compare)
      const made = texts.map((text) => labels.labelOf(text))
      return texts.every((a, i) =>
        texts.every((b, j) => {
          const order = made[i]! < made[j]! ? -1 : made[i]! > made[j]! ? 1 : 0
          return Math.sign(compare(a, b)) === order
        }),
      )
    }),
    300,
  )
})

t.test('a new label fits between any two labels', async () => {
  check(
    fc.property(fc.array(fc.nat(), { maxLength: 300 }), (places) => {
      const labels: string[] = []
      for (const place of places) {
        const at = place % (labels.length + 1)
        labels.splice(at, 0, labelBetween(labels[at - 1] ?? null, labels[at] ?? null))
      }
      return labels.every((label, i) => i === 0 || labels[i - 1]! < label)
    }),
    300,
  )
})

t.test('labels stay short if strings are added in order', async (t) => {
  let last: string | null = null
  for (let i = 0; i < 20_000; i++) last = labelBetween(last, null)
  t.equal(last!.length, 4)
  let first: string | null = null
  for (let i = 0; i < 20_000; i++) first = labelBetween(null, first)
  t.equal(first!.length, 4)
})

t.test('a fork has the same labels and does not change its original', async (t) => {
  const labels = new StringLabels((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const a = labels.labelOf('a')
  const c = labels.labelOf('c')
  const fork = labels.fork()
  const b = fork.labelOf('b')
  t.ok(a < b && b < c)
  t.equal(fork.labelOf('a'), a)
  t.equal(labels.labelOf('bb'), b, 'the label was still free')
})

t.test('a unique index uses its collation; D300 keys are labels', async (t) => {
  const engine = createMemoryEngine()
  applyAll(engine, [
    createOf('db.c'),
    createIndexOf('db.c', { a: 1 }, { unique: true, collation: caseless }),
    insertOf('db.c', { _id: 1, a: 'Anna' }),
    insertOf('db.c', { _id: 2, a: ['x', 'y'] }),
  ])
  const error = errorOf(() => engine.apply(insertOf('db.c', { _id: 3, a: 'anna' })))
  t.equal(error.code, 11000)
  t.match(
    error.message,
    /^E11000 duplicate key error collection: db\.c index: a_1 collation: \{ locale: "en", .* \} dup key: \{ a: "CollationKey\(0x[0-9a-f]+\)" \}$/,
  )
  t.match(error.extra, { keyPattern: { a: 1 }, keyValue: { a: 'anna' }, collation: { locale: 'en', strength: 2 } })
  t.equal(errorOf(() => engine.apply(insertOf('db.c', { _id: 4, a: 'Y' }))).code, 11000)
  engine.apply(updateOf('db.c', { _id: 1, a: 'ANNA' }))
  engine.apply(deleteOf('db.c', 1))
  engine.apply(insertOf('db.c', { _id: 5, a: 'anna' }))
})

t.test("the _id index and other indexes inherit the collection's collation", async (t) => {
  const engine = createMemoryEngine()
  const collation = decode(compileCollation(encode(caseless))!.document)
  applyAll(engine, [createOf('db.c', { collation }), insertOf('db.c', { _id: 'Key', v: 1 })])
  const collection = engine.collection('db.c')!
  t.equal(errorOf(() => engine.apply(insertOf('db.c', { _id: 'KEY' }))).code, 11000)
  t.same(find(collection, { _id: 'kEY' }, { collation: caseless }), [{ _id: 'Key', v: 1 }])
  t.equal(planOf(collection, { _id: 'kEY' }, { collation: caseless }).root.stage, 'IDHACK')
  t.same(find(collection, { _id: 'kEY' }), [], 'the simple collation')
  t.same(find(collection, { _id: 'Key' }), [{ _id: 'Key', v: 1 }])

  const inherited = prepareIndex(collection, encode({ key: { a: 1 }, name: 'a' }))!
  t.match(Buffer.from(inherited).toString('latin1'), /collation/)
  t.notMatch(
    Buffer.from(
      prepareIndex(collection, encode({ key: { a: 1 }, name: 'a', collation: { locale: 'simple' } }))!,
    ).toString('latin1'),
    /collation/,
  )
  t.equal(prepareIndex(collection, encode({ key: { _id: 1 }, name: '_id_', collation: caseless })), null)
  t.match(
    errorOf(() => prepareIndex(collection, encode({ key: { _id: 1 }, name: '_id_', collation: { locale: 'de' } }))),
    { code: 2, message: /^The _id index must have the same collation as the collection\. Index collation: / },
  )
  engine.apply(createIndexOf('db.c', { a: 1 }))
  t.equal(collection.index('a_1')!.collation, null, 'an entry of the log is complete')
})

const text = fc.constantFrom('', 'a', 'A', 'ä', 'b', 'B', 'ab', 'aB', 'Ab', 'c', 'ß', 'ss')
const scalar: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 }) },
  fc.constant(null),
)
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.record({ b: scalar }) },
)
const documents = fc.array(fc.record({ a: value, b: scalar }, { requiredKeys: [] }), { maxLength: 25 })
const operator: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: value },
  scalar.map((to) => ({ $gt: to })),
  scalar.map((to) => ({ $lte: to })),
  fc.tuple(scalar, scalar).map(([low, high]) => ({ $gte: low, $lt: high })),
  fc.array(scalar, { maxLength: 3 }).map((values) => ({ $in: values })),
  scalar.map((to) => ({ $ne: to })),
  fc.constant({ $regex: '^a' }),
)
const predicate = fc
  .tuple(fc.constantFrom('a', 'b', 'a.b'), operator)
  .map(([path, condition]): Document => ({ [path]: condition }))
const filter = fc.oneof(
  predicate,
  fc.tuple(predicate, predicate).map(([one, two]): Document => ({ $and: [one, two] })),
  fc.tuple(predicate, predicate).map(([one, two]): Document => ({ $or: [one, two] })),
)
const collations = [undefined, caseless, { locale: 'de', strength: 1 }] as const
const sorts = fc.constantFrom<Document>({}, { a: 1 }, { b: -1 }, { a: 1, b: 1 }, { b: 1, a: -1 })

t.test('plans under any collation return what a scan, a filter and a sort return', async (t) => {
  let indexed = 0
  const collationOf = fc.constantFrom(...collations)
  check(
    fc.property(documents, collationOf, collationOf, filter, sorts, (all, ofIndex, ofQuery, wanted, order) => {
      const options = ofIndex === undefined ? {} : { collation: ofIndex }
      const collection = collectionOf(all, [
        [{ a: 1 }, options],
        [
          { b: 1, a: -1 },
          { ...options, name: 'ba' },
        ],
        [{ b: 1 }, { ...options, partialFilterExpression: { b: { $gt: 'a' } }, name: 'b_partial' }],
      ])
      const evaluation = contextOf(ofQuery)
      const matcher = compileFilter(encode(wanted), evaluation)
      const sort = sortOrder(parseSort(encode(order)), evaluation.strings)
      const matching = [...collection.scan()].filter(({ document }) => matcher.matches(document))
      const query = ofQuery === undefined ? { sort: order } : { sort: order, collation: ofQuery }
      const plan = planOf(collection, wanted, query)
      if (plan.root.stage !== 'COLLSCAN' && plan.root.stage !== 'SORT') indexed++
      const found = rows(collection, wanted, query)
      const inOrder = found.every((row, i) => i === 0 || sort.compare(sort.keyOf(found[i - 1]!), sort.keyOf(row)) <= 0)
      return (
        inOrder &&
        same(
          found,
          matching.map(({ document }) => document),
        )
      )
    }),
    2000,
  )
  t.ok(indexed > 300, `${indexed} plans used an index`)
})

function rows(collection: Collection, wanted: Document, query: Parameters<typeof planOf>[2]): Uint8Array[] {
  const executor = executePlan(planOf(collection, wanted, query))
  const found: Uint8Array[] = []
  for (let row = executor.next(); row !== null; row = executor.next()) found.push(row.document)
  return found
}

function same(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  const texts = (all: readonly Uint8Array[]): string =>
    all
      .map((one) => Buffer.from(one).toString('latin1'))
      .sort()
      .join()
  return texts(a) === texts(b)
}

t.test('an index serves strings only of its own collation', async (t) => {
  const collection = collectionOf([{ a: 'x' }, { a: 'X' }, { a: 5 }], [[{ a: 1 }, { collation: caseless }]])
  const scanOf = (wanted: Document, collation?: Document): unknown => {
    const plan = planOf(collection, wanted, { sort: { a: 1 }, ...(collation === undefined ? {} : { collation }) })
    return plan.root.stage
  }
  t.equal(scanOf({ a: 'x' }, caseless), 'FETCH')
  t.equal(scanOf({ a: 'x' }), 'SORT')
  t.same(find(collection, { a: 'x' }, { collation: caseless }).length, 2)
  t.same(find(collection, { a: 'x' }).length, 1)
  t.same(find(collection, { a: { $gte: 'w', $lt: 'Y' } }, { collation: caseless }).length, 2)
  t.same(find(collection, { a: 5 }).length, 1)
})

t.test('an index does not give the order of another collation, not even in merged scans', async (t) => {
  const collection = collectionOf([{ a: 'a' }, { a: 'Ab' }], [[{ b: 1, a: 1 }, {}]])
  const wanted = { b: { $in: [null, 1] } }
  const german = { locale: 'de', strength: 1 }
  t.same(
    rows(collection, wanted, { sort: { a: 1 }, collation: german }).map((row) => decode(row)['a']),
    ['a', 'Ab'],
  )
  t.same(
    rows(collection, wanted, { sort: { a: 1 } }).map((row) => decode(row)['a']),
    ['Ab', 'a'],
  )
})

t.test('a checkpoint restores collated indexes', async (t) => {
  const engine = createMemoryEngine()
  applyAll(engine, [
    createOf('db.c', { collation: caseless }),
    createIndexOf('db.c', { a: 1 }, { collation: caseless }),
    ...['b', 'A', 'a', 'C'].map((a, i) => insertOf('db.c', { _id: `k${i}`, a })),
  ])
  const copy = createMemoryEngine()
  copy.restore(bytesOf(engine.checkpoint()))
  t.same(stateOf(copy), stateOf(engine))
  t.same(find(copy.collection('db.c')!, { a: { $lte: 'A' } }, { collation: caseless, sort: { a: 1 } }).length, 2)
})
