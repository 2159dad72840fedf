import t from 'tap'
import { decode } from '@shardlab/bson'
import {
  cappedMaxDocuments,
  cappedSizeBytes,
  createMemoryEngine,
  type Collection,
  type StorageEngine,
} from '../src/index.js'
import { applyAll, createOf, deleteOf, insertOf, commandOf } from './support/log.js'
import { find } from './support/query.js'
import { bytesOf } from './support/state.js'

function fill(engine: StorageEngine, from: number, to: number): Collection {
  for (let i = from; i < to; i++) {
    engine.apply(insertOf('db.c', { _id: i }))
    for (const { document } of engine.collection('db.c')!.cappedOverflow())
      engine.apply(deleteOf('db.c', decode(document)._id))
  }
  return engine.collection('db.c')!
}

const idsOf = (collection: Collection, options: Parameters<Collection['scan']>[0] = {}): unknown[] =>
  [...collection.scan(options)].map(({ document }) => decode(document)._id)

t.test('size and max are stored as the server rounds them', async (t) => {
  t.same([1, 256, 257, 4096].map(cappedSizeBytes), [256, 256, 512, 4096])
  t.same([0, -5, 7].map(cappedMaxDocuments), [0x7fff_ffff, 0x7fff_ffff, 7])
})

t.test('a capped collection drops its oldest documents beyond max', async (t) => {
  const engine = createMemoryEngine()
  engine.apply(createOf('db.c', { capped: true, size: 4096, max: 3 }))
  t.same(engine.collection('db.c')!.capped, { sizeBytes: 4096, documents: 3 })
  const collection = fill(engine, 0, 10)
  t.same(idsOf(collection), [7, 8, 9])
  t.same(idsOf(collection, { reverse: true }), [9, 8, 7])
  t.same(
    find(collection, {}, { sort: { $natural: -1 } }).map(({ _id }) => _id),
    [9, 8, 7],
  )
})

t.test('a capped collection drops its oldest documents beyond size (14 bytes each)', async (t) => {
  const engine = createMemoryEngine()
  engine.apply(createOf('db.c', { capped: true, size: 256 }))
  const collection = fill(engine, 0, 30)
  t.equal(collection.count, 18)
  t.ok(collection.dataSizeBytes <= 256)
  t.same(collection.cappedOverflow(), [])
})

t.test('the newest document stays even if it exceeds the size alone', async (t) => {
  const engine = createMemoryEngine()
  engine.apply(createOf('db.c', { capped: true, size: 256 }))
  engine.apply(insertOf('db.c', { _id: 1 }))
  engine.apply(insertOf('db.c', { _id: 2, text: 'x'.repeat(1000) }))
  t.same(
    engine
      .collection('db.c')!
      .cappedOverflow()
      .map(({ recordId }) => recordId),
    [1],
  )
})

t.test('uncapped collections never overflow, and collMod changes the limits', async (t) => {
  const engine = createMemoryEngine()
  applyAll(engine, [createOf('db.c'), insertOf('db.c', { _id: 1 })])
  t.equal(engine.collection('db.c')!.capped, null)
  t.same(engine.collection('db.c')!.cappedOverflow(), [])
  engine.apply(commandOf('db', { collMod: 'c', capped: true, size: 512 }))
  t.same(engine.collection('db.c')!.capped, { sizeBytes: 512, documents: null })
})

t.test('a scan resumes after a record id, whether the record still exists or not', async (t) => {
  const engine = createMemoryEngine()
  engine.apply(createOf('db.c'))
  for (let i = 1; i <= 600; i++) engine.apply(insertOf('db.c', { _id: i }))
  const collection = engine.collection('db.c')!
  t.same(idsOf(collection, { after: 597 }), [598, 599, 600])
  t.same(idsOf(collection, { after: 600 }), [])
  t.same(idsOf(collection, { after: 10_000 }), [])
  t.equal(idsOf(collection, { after: 0 }).length, 600)
  for (let i = 1; i <= 300; i++) engine.apply(deleteOf('db.c', i))
  t.same(idsOf(collection, { after: 255 }).slice(0, 2), [301, 302])
  t.same(idsOf(collection, { after: 300 }).slice(0, 2), [301, 302])
  engine.apply(insertOf('db.c', { _id: 'new' }))
  t.same(idsOf(collection, { after: 600 }), ['new'])
  t.same(
    find(collection, { _id: { $ne: 302 } }, { after: 300, limit: 2 }).map(({ _id }) => _id),
    [301, 303],
  )
})

t.test('D305 a clustered collection is in the order of its _id', async (t) => {
  const engine = createMemoryEngine()
  engine.apply(createOf('db.c', { clusteredIndex: { v: 2, key: { _id: 1 }, name: 'by id', unique: true } }))
  for (const id of [3, 1, 2]) engine.apply(insertOf('db.c', { _id: id }))
  const collection = engine.collection('db.c')!
  t.ok(collection.clustered)
  t.same(decode(collection.indexes()[0]!.spec), { v: 2, key: { _id: 1 }, name: 'by id', unique: true, clustered: true })
  t.same(
    find(collection, {}).map(({ _id }) => _id),
    [1, 2, 3],
  )
  t.same(
    find(collection, {}, { sort: { $natural: -1 } }).map(({ _id }) => _id),
    [3, 2, 1],
  )
  t.same(find(collection, { _id: 2 }), [{ _id: 2 }])
  const copy = createMemoryEngine()
  copy.restore(bytesOf(engine.checkpoint()))
  t.equal(copy.collection('db.c')!.indexes()[0]!.name, 'by id')
})
