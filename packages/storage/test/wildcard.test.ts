import fc from 'fast-check'
import t from 'tap'
import { encode, type Document } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { createMemoryEngine, stagesOf, type Collection } from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { collectionOf } from './support/collection.js'
import { fields, filter, sort } from './support/documents.js'
import { applyAll, createIndexOf, createOf, deleteOf, insertOf, updateOf } from './support/log.js'
import { context, find, planOf, run, errorOf, type PlainQuery } from './support/query.js'
import { bytesOf, stateOf } from './support/state.js'

function leaves({ key, ...options }: { key: Document; wildcardProjection?: Document }, document: Document): string[] {
  const collection = collectionOf([document], [[key, { ...options, name: 'w' }]])
  const index = collection.index('w')!
  return index
    .tuplesOf(encode({ _id: 0, ...document }))
    .map(([path, value]) => `${path!.asString()}=${value!.type}:${value!.isNumber() ? value!.asNumber() : ''}`)
    .sort()
}

t.test("the keys of a wildcard index are the server's", async (t) => {
  const document = { a: { b: 1, c: [2, { d: 3 }, [4]] }, e: {}, f: [], _private: 5, g: null }
  t.same(leaves({ key: { '$**': 1 } }, document), [
    '_private=16:5',
    'a.b=16:1',
    'a.c.d=16:3',
    'a.c=16:2',
    'a.c=4:',
    'e=3:',
    'f=6:',
    'g=10:',
  ])
  t.same(leaves({ key: { 'a.$**': 1 } }, document), ['a.b=16:1', 'a.c.d=16:3', 'a.c=16:2', 'a.c=4:'])
  t.same(leaves({ key: { '$**': 1 }, wildcardProjection: { 'a.c': 1, _id: 1 } }, document), [
    '_id=16:0',
    'a.c.d=16:3',
    'a.c=16:2',
    'a.c=4:',
  ])
  t.same(leaves({ key: { '$**': 1 }, wildcardProjection: { a: 0 } }, document), [
    '_private=16:5',
    'e=3:',
    'f=6:',
    'g=10:',
  ])
  t.same(leaves({ key: { '$**': 1 }, wildcardProjection: { a: 0, _id: 1 } }, { a: 1, b: 2 }), ['_id=16:0', 'b=16:2'])
})

const usesIndex = (collection: Collection, wanted: Document, query: PlainQuery = {}): boolean =>
  [...stagesOf(planOf(collection, wanted, query).root)].some((stage) => 'scan' in stage)

t.test('a wildcard index answers the predicates that the server answers with it', async (t) => {
  const collection = collectionOf(
    [{ a: 1, b: { c: 'x' } }, { a: 2, list: [1, 2] }, { a: { deep: 1 }, list: [{ k: 5 }] }, { a: null }, {}],
    [[{ '$**': 1 }]],
  )
  const cases: [filter: Document, used: boolean, ids: number[]][] = [
    [{ a: 1 }, true, [0]],
    [{ a: { $gt: 0 } }, true, [0, 1]],
    [{ 'b.c': 'x' }, true, [0]],
    [{ 'b.c': /^x/ }, true, [0]],
    [{ a: { $in: [1, 2] } }, true, [0, 1]],
    [{ a: { $exists: true } }, true, [0, 1, 2, 3]],
    [{ b: { $exists: true } }, true, [0]],
    [{ list: 2 }, true, [1]],
    [{ 'list.k': 5 }, true, [2]],
    [{ list: { $elemMatch: { k: { $gt: 4 } } } }, true, [2]],
    [{ 'list.0': 1 }, false, [1]],
    [{ a: null }, false, [3, 4]],
    [{ a: { $exists: false } }, false, [4]],
    [{ a: { $ne: 1 } }, false, [1, 2, 3, 4]],
    [{ a: { deep: 1 } }, false, [2]],
    [{ list: [1, 2] }, true, [1]],
    [{ _id: { $gt: 3 } }, true, [4]],
    [{}, false, [0, 1, 2, 3, 4]],
    [{ $or: [{ a: 2 }, { 'b.c': 'x' }] }, true, [0, 1]],
  ]
  for (const [wanted, used, ids] of cases) {
    const label = JSON.stringify(wanted)
    t.equal(usesIndex(collection, wanted), used, label)
    t.same(
      find(collection, wanted)
        .map(({ _id }) => _id)
        .sort(),
      ids,
      label,
    )
  }
})

t.test('elements of an array without the field have no key, but match null', async (t) => {
  const documents = [{ a: [{ c: 0 }, {}] }, { a: [{ c: 1 }] }, { a: [{}] }, { a: [{ c: { d: 1 } }, {}] }]
  const collection = collectionOf(documents, [[{ '$**': 1 }]])
  const wanted = { 'a.c': { $exists: true, $gte: null } }
  t.ok(usesIndex(collection, wanted))
  t.same(
    find(collection, wanted).map(({ _id }) => _id),
    [0, 3],
  )
})

t.test('a path that ends with a dot is not looked up in a wildcard index', async (t) => {
  const documents = [{ a: [] }, { a: [1] }, { a: 5 }, { a: { b: 1 } }, { a: { '': 1 } }, { a: [{ b: [1] }] }]
  const plain = collectionOf(documents, [])
  const indexed = collectionOf(documents, [[{ '$**': 1 }, { name: 'w' }]])
  for (const wanted of [{ 'a.': { $exists: true } }, { 'a.': 1 }, { 'a.': { $gt: 0 } }, { 'a.b.': 1 }] as Document[])
    t.same(find(indexed, { filter: wanted }), find(plain, { filter: wanted }), JSON.stringify(wanted))
})

t.test('a wildcard index gives orders, follows hints and has bounds', async (t) => {
  const collection = collectionOf([{ a: 3 }, { a: 1, b: 1 }, { a: 2 }, { b: 9 }], [[{ '$**': 1 }]])
  const plan = planOf(collection, { a: { $gt: 0 } }, { sort: { a: 1 } })
  t.same(
    [...stagesOf(plan.root)].map(({ stage }) => stage),
    ['FETCH', 'IXSCAN'],
  )
  t.same(
    run(plan).map(({ a }) => a),
    [1, 2, 3],
  )
  t.equal(errorOf(() => planOf(collection, {}, { hint: '$**_1' })).code, 291, 'a hint without a predicate has no plan')
  t.same(find(collection, { b: 9 }, { hint: { '$**': 1 } }), [{ _id: 3, b: 9 }])
  t.equal(errorOf(() => planOf(collection, { a: 1 }, { hint: '$**_1', min: { a: 1 } })).code, 51174)
})

t.test('a wildcard index survives changes and checkpoints', async (t) => {
  const engine = createMemoryEngine()
  applyAll(engine, [
    createOf('db.c'),
    createIndexOf('db.c', { '$**': 1 }),
    insertOf('db.c', { _id: 1, a: [1, 2] }),
    insertOf('db.c', { _id: 2, a: { b: 5 } }),
    updateOf('db.c', { _id: 1, a: 3 }),
    deleteOf('db.c', 2),
  ])
  const collection = engine.collection('db.c')!
  const index = collection.index('$**_1')!
  t.equal(index.entries, 1)
  t.ok(index.multikey, 'it once was')
  t.same([...index.arrayPaths], ['a'])
  const copy = createMemoryEngine()
  copy.restore(bytesOf(engine.checkpoint()))
  t.same(stateOf(copy), stateOf(engine))
  t.same([...copy.collection('db.c')!.index('$**_1')!.arrayPaths], ['a'])
})

t.test('plans with a wildcard index return what a scan and a filter return', async (t) => {
  let indexed = 0
  const specs = fc.constantFrom<[Document, Document]>(
    [{ '$**': 1 }, {}],
    [{ '$**': -1 }, {}],
    [{ 'a.$**': 1 }, {}],
    [{ '$**': 1 }, { wildcardProjection: { a: 0 } }],
    [{ '$**': 1 }, { wildcardProjection: { 'a.b': 1, c: 1 } }],
    [{ '$**': 1 }, { partialFilterExpression: { b: { $gt: 0 } } }],
  )
  check(
    fc.property(
      fc.array(fields, { maxLength: 25 }),
      specs,
      filter,
      sort,
      (documents, [key, options], wanted, order) => {
        const collection = collectionOf(documents, [[key, { ...options, name: 'w' }]])
        const matcher = compileFilter(encode(wanted), context)
        const expected = [...collection.scan()]
          .filter(({ document }) => matcher.matches(document))
          .map(({ recordId }) => recordId)
        if (usesIndex(collection, wanted, { sort: order })) indexed++
        const found = find(collection, wanted, { sort: order }).map(({ _id }) => (_id as number) + 1)
        return found.sort((a, b) => a - b).join() === expected.join()
      },
    ),
    2000,
  )
  t.ok(indexed > 300, `${indexed} plans used the index`)
})
