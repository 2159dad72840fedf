import t from 'tap'
import { Double, encode, Long, type Document } from '@shardlab/bson'
import type { StorageEngine } from '../src/index.js'
import { commandOf, createIndexOf, createOf, engineWith, insertOf, updateOf } from './support/log.js'
import { errorOf } from './support/query.js'
import { stateOf } from './support/state.js'

t.test('with prepareUnique, a batch may not add duplicates, and existing ones stay', async (t) => {
  const prepared = (): StorageEngine =>
    engineWith(
      createOf('db.c'),
      createIndexOf('db.c', { a: 1 }),
      insertOf('db.c', { _id: 1, a: 'twice' }),
      insertOf('db.c', { _id: 2, a: 'twice' }),
      commandOf('db', { collMod: 'c', index: { name: 'a_1', prepareUnique: true } }),
    )
  const batch = (...values: unknown[]): Uint8Array[] => values.map((a, i) => encode({ _id: 10 + i, a }))
  for (const values of [
    ['new', 'twice'],
    ['new', 'new'],
  ]) {
    const engine = prepared()
    const before = stateOf(engine)
    t.match(
      errorOf(() => engine.insertAll('db.c', batch(...values))),
      {
        code: 11000,
        message: `E11000 duplicate key error collection: db.c index: a_1 dup key: { a: "${values[1]}" }`,
      },
    )
    t.same(stateOf(engine), before)
  }
  const engine = prepared()
  t.equal(engine.insertAll('db.c', batch('new', 'newer', [1, 1])).count, 3)
  t.equal(engine.collection('db.c')!.index('a_1')!.entries, 5)
  engine.apply(updateOf('db.c', { _id: 1, a: 'twice', b: 1 }))
  engine.apply(updateOf('db.c', { _id: 2, a: ['twice', 'other'] }))
  t.equal(errorOf(() => engine.apply(updateOf('db.c', { _id: 1, a: 'newer' }))).code, 11000)
  t.equal(errorOf(() => engine.apply(updateOf('db.c', { _id: 1, a: ['twice', 'newer'] }))).code, 11000)
  t.equal(engine.collection('db.c')!.index('a_1')!.entries, 6)
})

t.test('with prepareUnique, a key whose number changes its type is checked again, as on the server', async (t) => {
  const engine = engineWith(
    createOf('db.c'),
    createIndexOf('db.c', { a: 1, b: 1 }),
    ...[1, 2].map((_id) => insertOf('db.c', { _id, a: [1, 2] })),
    insertOf('db.c', { _id: 3, a: 3 }),
    commandOf('db', { collMod: 'c', index: { name: 'a_1_b_1', prepareUnique: true } }),
  )
  const changed =
    (a: unknown, others: Document = {}) =>
    () =>
      engine.apply(updateOf('db.c', { _id: 1, a, ...others }))
  t.equal(errorOf(changed([new Double(1), 2])).code, 11000)
  t.equal(errorOf(changed([1, Long.fromNumber(2)])).code, 11000)
  changed([2, 1], { b: null, c: 1 })()
  engine.apply(updateOf('db.c', { _id: 3, a: new Double(3) }))
  t.equal(engine.collection('db.c')!.index('a_1_b_1')!.entries, 5)
})

t.test('with prepareUnique, keys of documents outside the partial filter are not generated', async (t) => {
  const engine = engineWith(
    createOf('db.c'),
    createIndexOf('db.c', { a: 1, b: 1 }, { partialFilterExpression: { c: 1 }, prepareUnique: true }),
    insertOf('db.c', { _id: 1, a: [1], b: [1] }),
  )
  engine.apply(updateOf('db.c', { _id: 1, a: 1, b: 1, c: 1 }))
  engine.apply(updateOf('db.c', { _id: 1, a: [2], b: [2] }))
  t.equal(engine.collection('db.c')!.index('a_1_b_1')!.entries, 0)
})
