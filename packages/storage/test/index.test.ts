import fc from 'fast-check'
import t from 'tap'
import { compareValues, decode, encode, encodeKeyString, toRawValue, type Document } from '@shardlab/bson'
import { createMemoryEngine, type Collection, type KeyRange } from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { scalar } from './support/documents.js'
import { applyAll, createIndexOf, createOf, deleteOf, insertOf, updateOf } from './support/log.js'

function collectionWith(key: Document, documents: readonly Document[]): Collection {
  const engine = createMemoryEngine()
  applyAll(engine, [createOf('db.c'), createIndexOf('db.c', key, { name: 'under_test' })])
  documents.forEach((document, i) => engine.apply(insertOf('db.c', { _id: i, ...document })))
  documents.forEach((document, i) => {
    if (i % 3 === 0) engine.apply(updateOf('db.c', { _id: i, a: 'elsewhere' }))
    if (i % 4 === 0) engine.apply(deleteOf('db.c', i))
    if (i % 4 === 0) engine.apply(insertOf('db.c', { _id: i, ...document }))
    else if (i % 3 === 0) engine.apply(updateOf('db.c', { _id: i, ...document }))
  })
  return engine.collection('db.c')!
}

const row = fc.record({ a: scalar, b: scalar }, { requiredKeys: [] })
const bound = fc.option(fc.tuple(scalar, fc.boolean()), { nil: undefined })
const direction = fc.constantFrom(1 as const, -1 as const)

t.test('an index is a sorted array', async () => {
  check(
    fc.property(
      fc.array(row, { maxLength: 40 }),
      direction,
      direction,
      bound,
      bound,
      fc.boolean(),
      (rows, first, second, low, high, reverse) => {
        const collection = collectionWith({ a: first, b: second }, rows)
        const compare = (x: unknown, y: unknown): number => compareValues(toRawValue(x ?? null), toRawValue(y ?? null))
        const inOrder = [...collection.scan()]
          .map(
            ({ recordId, document }) =>
              ({ recordId, ...decode(document) }) as { recordId: number; a?: unknown; b?: unknown },
          )
          .sort((x, y) => first * compare(x.a, y.a) || second * compare(x.b, y.b) || x.recordId - y.recordId)
        const expected = inOrder.filter(({ a }) => {
          const fromLow = low === undefined ? 1 : first * compare(a, low[0])
          const toHigh = high === undefined ? -1 : first * compare(a, high[0])
          return (fromLow > 0 || (fromLow === 0 && low![1])) && (toHigh < 0 || (toHigh === 0 && high![1]))
        })
        if (reverse) expected.reverse()
        const key = (value: unknown): string => encodeKeyString([toRawValue(value)], [first === -1])
        const range: KeyRange = {
          ...(low === undefined ? {} : { low: key(low[0]), lowInclusive: low[1] }),
          ...(high === undefined ? {} : { high: key(high[0]), highInclusive: high[1] }),
        }
        const found = [...collection.index('under_test')!.seek(range, reverse)]
        return found.join() === expected.map(({ recordId }) => recordId).join()
      },
    ),
    400,
  )
})

t.test('equal keys are in order of insertion', async (t) => {
  const collection = collectionWith(
    { a: 1 },
    Array.from({ length: 700 }, () => ({ a: 1 })),
  )
  const found = [...collection.index('under_test')!.seek({})]
  t.equal(found.length, 700)
  t.same(
    found,
    [...found].sort((a, b) => a - b),
  )
})

t.test('a multikey index has one entry per distinct element', async (t) => {
  const collection = collectionWith({ a: 1 }, [{ a: [3, 1, 3] }, { a: 2 }, { a: [] }])
  const index = collection.index('under_test')!
  t.equal(index.entries, 4)
  t.ok(index.multikey)
  t.same(index.keysOf(encode({ a: [3, 1, 3] })).length, 2)
  const ids = [...index.seek({})].map((recordId) => decode(collection.get(recordId)!.document)._id)
  t.same(ids, [2, 0, 1, 0])
})
