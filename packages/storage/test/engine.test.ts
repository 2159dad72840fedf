import t from 'tap'
import { decode, encode, toRawValue, type Document } from '@shardlab/bson'
import { createMemoryEngine, type StorageEngine } from '../src/index.js'
import {
  applyAll,
  commandOf,
  createIndexOf,
  createOf,
  deleteOf,
  engineWith,
  insertOf,
  noop,
  updateOf,
  uuid,
} from './support/log.js'
import { errorOf } from './support/query.js'
import { stateOf } from './support/state.js'

const documentsOf = (engine: StorageEngine, ns: string): Document[] =>
  [...engine.collection(ns)!.scan()].map(({ document }) => decode(document))

t.test('documents are inserted, updated and deleted', async (t) => {
  const engine = engineWith(createOf('db.c'))
  const collection = engine.collection('db.c')!
  t.equal(engine.apply(insertOf('db.c', { _id: 1, a: 'x' })), null)
  const inserted = collection.findById(toRawValue(1))!
  t.same(decode(inserted.document), { _id: 1, a: 'x' })
  engine.apply(insertOf('db.c', { _id: 2, a: 'y' }))
  t.same(decode(engine.apply(updateOf('db.c', { _id: 1, a: 'longer' }))!), { _id: 1, a: 'x' })
  t.equal(collection.findById(toRawValue(1))!.recordId, inserted.recordId, 'an update keeps its place')
  t.same(documentsOf(engine, 'db.c'), [
    { _id: 1, a: 'longer' },
    { _id: 2, a: 'y' },
  ])
  t.same(decode(collection.findById(toRawValue(2))!.document), { _id: 2, a: 'y' })
  t.equal(collection.dataSizeBytes, encode({ _id: 1, a: 'longer' }).length + encode({ _id: 2, a: 'y' }).length)
  t.same(decode(engine.apply(deleteOf('db.c', 1))!), { _id: 1, a: 'longer' })
  t.equal(collection.findById(toRawValue(1)), undefined)
  t.equal(collection.count, 1)
  engine.apply(noop)
  t.throws(() => engine.apply(deleteOf('db.c', 1)), /is not in db.c/)
  t.throws(() => engine.apply(insertOf('db.c', { a: 1 })), /has no _id/)
  t.equal(errorOf(() => engine.apply(insertOf('db.none', { _id: 1 }))).codeName, 'NamespaceNotFound')
})

t.test('stored documents share no bytes with the entries', async (t) => {
  const engine = engineWith(createOf('db.c'))
  const entry = insertOf('db.c', { _id: 1, a: 'x' })
  engine.apply(entry)
  entry.object.fill(0)
  t.same(documentsOf(engine, 'db.c'), [{ _id: 1, a: 'x' }])
})

t.test('an engine that adopts another one is independent of it', async (t) => {
  const first = engineWith(createOf('db.c'), createIndexOf('db.c', { a: 1 }), insertOf('db.c', { _id: 1, a: 1 }))
  first.collection('db.c')!.index('a_1')!.usage.ops += 5
  const before = stateOf(first)
  const second = engineWith(createOf('db.dropped'))
  second.adopt(first)
  t.same(stateOf(second), before)
  t.equal(second.collection('db.c')!.index('a_1')!.usage.ops, 0, 'uses are counted from 0')
  second.collection('db.c')!.index('a_1')!.usage.ops++
  t.equal(first.collection('db.c')!.index('a_1')!.usage.ops, 5)
  applyAll(second, [insertOf('db.c', { _id: 2, a: 2 }), deleteOf('db.c', 1)])
  t.same(stateOf(first), before)
  first.apply(insertOf('db.c', { _id: 2, a: 3 }))
  t.same(documentsOf(second, 'db.c'), [{ _id: 2, a: 2 }])
  const third = createMemoryEngine()
  third.adopt(second)
  t.same(stateOf(third), stateOf(second))
})

t.test('a duplicate key fails and changes nothing', async (t) => {
  const engine = engineWith(
    createOf('db.c'),
    createIndexOf('db.c', { a: 1, b: -1 }, { unique: true }),
    createIndexOf('db.c', { m: 1 }, { unique: true, sparse: true }),
    insertOf('db.c', { _id: 1, a: 1, b: 'x', m: [1, 2] }),
  )
  const before = stateOf(engine)
  t.same(
    errorOf(() => engine.apply(insertOf('db.c', { _id: 1 }))),
    {
      code: 11000,
      codeName: 'DuplicateKey',
      message: 'E11000 duplicate key error collection: db.c index: _id_ dup key: { _id: 1 }',
      extra: { keyPattern: { _id: 1 }, keyValue: { _id: 1 } },
    },
  )
  t.same(
    errorOf(() => engine.apply(insertOf('db.c', { _id: 2, a: 1, b: 'x' }))),
    {
      code: 11000,
      codeName: 'DuplicateKey',
      message: 'E11000 duplicate key error collection: db.c index: a_1_b_-1 dup key: { a: 1, b: "x" }',
      extra: { keyPattern: { a: 1, b: -1 }, keyValue: { a: 1, b: 'x' } },
    },
  )
  t.match(
    errorOf(() => engine.apply(insertOf('db.c', { _id: 2, a: 2, m: [3, 2] }))),
    { message: /index: m_1 dup key: \{ m: 2 \}$/, extra: { keyValue: { m: 2 } } },
  )
  t.same(stateOf(engine), before, 'nothing changed')

  engine.apply(insertOf('db.c', { _id: 2, a: 2 }))
  t.match(
    errorOf(() => engine.apply(insertOf('db.c', { _id: 3, a: 2 }))),
    { message: /dup key: \{ a: 2, b: null \}$/ },
    'missing counts as null',
  )
  t.equal(errorOf(() => engine.apply(updateOf('db.c', { _id: 2, a: 1, b: 'x' }))).code, 11000)
  engine.apply(updateOf('db.c', { _id: 1, a: 1, b: 'x', m: [2, 2, 1], c: 1 }))
  t.equal(
    errorOf(() => engine.apply(createIndexOf('db.c', { none: 1 }, { unique: true }))).message,
    'E11000 duplicate key error collection: db.c index: none_1 dup key: { none: null }',
  )
  t.same(
    engine
      .collection('db.c')!
      .indexes()
      .map(({ name }) => name),
    ['_id_', 'a_1_b_-1', 'm_1'],
  )
})

t.test('a document found during a failed batch is gone afterwards', async (t) => {
  const engine = engineWith(createOf('db.c'), insertOf('db.c', { _id: 1 }))
  const collection = engine.collection('db.c')!
  function* documents(): Generator<Uint8Array, void, void> {
    yield encode({ _id: 2 })
    t.ok(collection.findById(toRawValue(2)))
    yield encode({ _id: 1 })
  }
  t.equal(errorOf(() => engine.insertAll('db.c', documents())).codeName, 'DuplicateKey')
  t.equal(collection.findById(toRawValue(2)), undefined)
  t.equal(engine.apply(insertOf('db.c', { _id: 2, again: true })), null)
  t.same(decode(collection.findById(toRawValue(2))!.document), { _id: 2, again: true })
})

t.test('sparse and partial indexes leave documents out, hidden ones do not', async (t) => {
  const engine = engineWith(
    createOf('db.c'),
    insertOf('db.c', { _id: 1, a: 1 }),
    createIndexOf('db.c', { a: 1 }, { sparse: true }),
    createIndexOf('db.c', { b: 1 }, { unique: true, partialFilterExpression: { b: { $gt: 5 } }, hidden: true }),
    insertOf('db.c', { _id: 2, b: 1 }),
    insertOf('db.c', { _id: 3, b: 1 }),
    insertOf('db.c', { _id: 4, b: 6 }),
  )
  const entries = (name: string): number => engine.collection('db.c')!.index(name)!.entries
  t.equal(entries('a_1'), 1)
  t.equal(entries('b_1'), 1)
  t.equal(errorOf(() => engine.apply(insertOf('db.c', { _id: 5, b: 6 }))).code, 11000)
  engine.apply(updateOf('db.c', { _id: 4, b: 1 }))
  t.equal(entries('b_1'), 0)
  t.ok(engine.collection('db.c')!.index('b_1')!.hidden)
  engine.apply(commandOf('db', { collMod: 'c', index: { name: 'b_1', hidden: false } }))
  t.same(decode(engine.collection('db.c')!.index('b_1')!.spec), {
    v: 2,
    key: { b: 1 },
    name: 'b_1',
    unique: true,
    partialFilterExpression: { b: { $gt: 5 } },
  })
  engine.apply(commandOf('db', { collMod: 'c', index: { keyPattern: { a: 1 }, hidden: true } }))
  t.equal(engine.collection('db.c')!.index('a_1')!.hidden, true)
})

t.test('catalog entries create, drop, rename and modify, or fail as on the server', async (t) => {
  const engine = engineWith(
    createOf('db.c', { capped: true, size: 10, uuid, idIndex: { v: 2 } }),
    createOf('db.d.e'),
    createOf('db2.c'),
  )
  t.same(decode(engine.collection('db.c')!.options), { capped: true, size: 10 })
  t.same(Buffer.from(engine.collection('db.c')!.uuid), uuid)
  t.same(engine.databases(), ['db', 'db2'])
  t.same(
    engine.collections('db').map(({ ns }) => ns),
    ['db.c', 'db.d.e'],
  )
  t.same(
    errorOf(() => engine.apply(createOf('db.c'))),
    { code: 48, codeName: 'NamespaceExists', message: 'Collection db.c already exists.', extra: null },
  )

  engine.apply(insertOf('db.c', { _id: 1 }))
  t.equal(
    errorOf(() => engine.apply(commandOf('admin', { renameCollection: 'db.c', to: 'db2.c' }))).codeName,
    'NamespaceExists',
  )
  engine.apply(commandOf('admin', { renameCollection: 'db.c', to: 'db2.c', dropTarget: true }))
  t.equal(engine.collection('db.c'), undefined)
  t.equal(engine.collection('db2.c')!.ns, 'db2.c')
  t.same(documentsOf(engine, 'db2.c'), [{ _id: 1 }])

  engine.apply(commandOf('db2', { collMod: 'c', validator: { a: 1 } }))
  t.same(decode(engine.collection('db2.c')!.options), { capped: true, size: 10, validator: { a: 1 } })
  engine.apply(createIndexOf('db2.c', { a: 1 }))
  engine.apply(commandOf('db2', { dropIndexes: 'c', index: 'a_1' }))
  t.same(
    engine
      .collection('db2.c')!
      .indexes()
      .map(({ name }) => name),
    ['_id_'],
  )
  t.equal(errorOf(() => engine.apply(commandOf('db2', { dropIndexes: 'c', index: 'a_1' }))).codeName, 'IndexNotFound')
  t.same(
    errorOf(() => engine.apply(commandOf('db2', { dropIndexes: 'c', index: '_id_' }))).message,
    'cannot drop _id index',
  )
  t.equal(errorOf(() => engine.apply(commandOf('db', { drop: 'none' }))).codeName, 'NamespaceNotFound')
  engine.apply(commandOf('db', { drop: 'd.e' }))
  engine.apply(commandOf('db2', { dropDatabase: 1 }))
  t.same(engine.databases(), [])
  t.throws(() => engine.apply(commandOf('db', { applyOps: 1 })), /unknown command in a log entry: applyOps/)
})

t.test('a snapshot does not change while documents are written', async (t) => {
  const engine = engineWith(createOf('db.c'), createIndexOf('db.c', { a: 1 }))
  for (let i = 0; i < 1000; i++) engine.apply(insertOf('db.c', { _id: i, a: i % 7 }))
  const collection = engine.collection('db.c')!
  const snapshot = collection.snapshot()
  t.equal(collection.snapshot(), snapshot, 'the same object, since nothing was written in between')
  const byIndex = snapshot.index('a_1')!.seek({})
  const byOrder = snapshot.scan()
  const seen: number[] = []
  const keys: number[] = []
  for (let i = 0; i < 1000; i++) {
    const record = byOrder.next()!
    seen.push(decode(record.document)._id as number)
    keys.push(byIndex.next())
    if (i % 3 === 0) engine.apply(deleteOf('db.c', i))
    else engine.apply(updateOf('db.c', { _id: i, a: -i }))
    engine.apply(insertOf('db.c', { _id: 5000 + i, a: 3 }))
  }
  t.equal(byOrder.next(), null)
  t.same(
    seen,
    Array.from({ length: 1000 }, (_, i) => i),
  )
  t.equal(new Set(keys).size, 1000)
  t.equal(snapshot.count, 1000)
  t.same(decode(snapshot.findById(toRawValue(0))!.document), { _id: 0, a: 0 })
  t.not(collection.snapshot(), snapshot)
  t.throws(
    () => (snapshot as unknown as { insert(document: Uint8Array): void }).insert(encode({ _id: 1 })),
    /cannot be changed/,
  )
})

t.test('changes to a clone and its original are independent', async (t) => {
  const engine = engineWith(createOf('db.c'), createIndexOf('db.c', { a: 1 }), insertOf('db.c', { _id: 1, a: 1 }))
  const fork = engine.clone()
  t.same(stateOf(fork), stateOf(engine))
  fork.apply(updateOf('db.c', { _id: 1, a: [1, 2] }))
  for (let i = 2; i < 20; i++) fork.apply(insertOf('db.c', { _id: i, a: i }))
  for (let i = 1; i < 60; i++) t.equal(fork.collection('db.c')!.findById(toRawValue(i)) !== undefined, i < 20)
  engine.apply(createIndexOf('db.c', { b: 1 }))
  t.same(documentsOf(engine, 'db.c'), [{ _id: 1, a: 1 }])
  t.equal(engine.collection('db.c')!.index('a_1')!.multikey, false)
  t.equal(fork.collection('db.c')!.index('a_1')!.multikey, true)
  t.equal(fork.collection('db.c')!.count, 19)
})

t.test('a clone used late has the collections of its time, which clones between two changes share', async (t) => {
  const engine = engineWith(createOf('db.c'), createOf('db.d'), insertOf('db.c', { _id: 1 }))
  const [first, second] = [engine.clone(), engine.clone()]
  const before = stateOf(engine)
  for (let i = 2; i < 20; i++) engine.apply(insertOf('db.c', { _id: i }))
  engine.apply(createIndexOf('db.c', { a: 1 }))
  engine.apply(commandOf('db', { drop: 'd' }))
  second.apply(insertOf('db.c', { _id: 'second' }))
  const third = first.clone()
  t.same(documentsOf(first, 'db.c'), [{ _id: 1 }])
  t.equal(first.collection('db.c'), first.collection('db.c'))
  t.same(documentsOf(second, 'db.c'), [{ _id: 1 }, { _id: 'second' }])
  t.same(stateOf(first), before)
  t.same(stateOf(third), before)
  first.apply(commandOf('db', { drop: 'c' }))
  t.equal(first.collection('db.c'), undefined)
  t.equal(engine.collection('db.c')!.count, 19)
})

t.test('dead documents of a collection with many changes are freed', async (t) => {
  const engine = engineWith(createOf('db.c'))
  const text = 'x'.repeat(4000)
  for (let i = 0; i < 20; i++) engine.apply(insertOf('db.c', { _id: i, n: 0 }))
  const snapshot = engine.collection('db.c')!.snapshot()
  const oldest = engine.collection('db.c')!.get(1)!.document.buffer
  const changed = engine.collection('db.c')!
  let elsewhere = 0
  for (let n = 1; n < 2200; n++) {
    engine.apply(updateOf('db.c', { _id: 19, n, text }))
    if (changed.findById(toRawValue(19))!.document !== changed.get(20)!.document) elsewhere++
  }
  t.equal(elsewhere, 0, 'a lookup returns the current document')
  t.not(engine.collection('db.c')!.get(1)!.document.buffer, oldest, 'the other documents moved')
  t.same(
    documentsOf(engine, 'db.c').slice(0, 19),
    Array.from({ length: 19 }, (_, i) => ({ _id: i, n: 0 })),
  )
  t.equal(snapshot.get(1)!.document.buffer, oldest)
  t.same(decode(engine.collection('db.c')!.findById(toRawValue(3))!.document), { _id: 3, n: 0 })
})
