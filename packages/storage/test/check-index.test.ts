import fc from 'fast-check'
import t from 'tap'
import { encode, type Document } from '@shardlab/bson'
import { checkIndex, createMemoryEngine, type Collection, type Index, type IndexCheck } from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { collectionOf } from './support/collection.js'
import { fields } from './support/documents.js'
import { applyAll, createIndexOf, createOf, deleteOf, insertOf, updateOf } from './support/log.js'

const indexes: readonly (readonly [Document, Document])[] = [
  [{ a: 1 }, {}],
  [{ a: -1, b: 1 }, { sparse: true }],
  [{ 'a.b': 1, c: 1 }, { collation: { locale: 'en', strength: 1 } }],
  [{ b: 'hashed' }, {}],
  [{ '$**': 1 }, {}],
  [{ c: 1 }, { partialFilterExpression: { b: { $gt: 0 } } }],
  [{ 'a.$**': -1 }, { collation: { locale: 'de' }, name: 'subtree' }],
]

function checked(collection: Collection, index: Index): IndexCheck {
  const work = checkIndex(collection, index)
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

t.test('after any writes, every index has exactly the keys of the documents', async () => {
  check(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 9 }), fc.option(fields)), { maxLength: 40 }), (changes) => {
      const engine = createMemoryEngine()
      applyAll(engine, [
        createOf('db.c'),
        ...indexes.slice(0, 4).map(([key, options]) => createIndexOf('db.c', key, options)),
      ])
      const present = new Set<number>()
      for (const [id, document] of changes) {
        if (document === null) {
          if (present.delete(id)) engine.apply(deleteOf('db.c', id))
        } else {
          engine.apply((present.has(id) ? updateOf : insertOf)('db.c', { _id: id, ...document }))
          present.add(id)
        }
        if (present.size === 3 && engine.collection('db.c')!.indexes().length === 5)
          applyAll(
            engine,
            indexes.slice(4).map(([key, options]) => createIndexOf('db.c', key, options)),
          )
      }
      const collection = engine.collection('db.c')!
      return collection.indexes().every((index) => {
        const { keys, missing, extra } = checked(collection, index)
        return keys === index.entries && missing.length === 0 && extra.length === 0
      })
    }),
    1000,
  )
})

t.test('checkIndex finds missing and extra keys', async (t) => {
  const collection = collectionOf([{ a: 1 }, { a: [2, 3] }], [[{ a: 1 }]])
  const index = collection.index('a_1')!
  t.same(checked(collection, index), { keys: 3, missing: [], extra: [] })
  const other = collectionOf([{ a: 1 }, { a: 4 }, { a: 5 }], [[{ a: 1 }]])
  const foreign: Index = other.index('a_1')!
  const { keys, missing, extra } = checked(collection, foreign)
  t.equal(keys, 3)
  t.same(
    missing.map(({ record, values }) => [record.recordId, values.map((value) => value!.asNumber())]),
    [
      [2, [2]],
      [2, [3]],
    ],
  )
  t.same(
    extra.map(({ recordId, key }) => [
      recordId,
      key === foreign.encode(foreign.tuplesOf(encode({ a: recordId + 2 }))[0]!),
    ]),
    [
      [2, true],
      [3, true],
    ],
  )
})
