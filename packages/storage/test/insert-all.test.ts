import fc from 'fast-check'
import t from 'tap'
import { CommandError } from '@shardlab/bson'
import type { LogEntry, StorageEngine } from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { fields, scalar } from './support/documents.js'
import { createIndexOf, createOf, deleteOf, engineWith, insertOf, updateOf } from './support/log.js'
import { errorOf } from './support/query.js'
import { stateOf } from './support/state.js'

t.test('of several duplicate keys of a document the error names the lowest', async (t) => {
  const engine = engineWith(
    createOf('db.c'),
    createIndexOf('db.c', { a: 1 }, { unique: true }),
    ...[1, 2, 3].map((a) => insertOf('db.c', { _id: a, a })),
  )
  const named = / dup key: { a: 1 }$/
  t.match(errorOf(() => engine.apply(insertOf('db.c', { _id: 4, a: [3, 2, 1] }))).message, named)
  t.match(errorOf(() => engine.apply(updateOf('db.c', { _id: 3, a: [3, 2, 1] }))).message, named)
})

function refusalOf(engine: StorageEngine, entry: LogEntry): string | null {
  try {
    engine.apply(entry)
    return null
  } catch (error) {
    if (error instanceof CommandError) return error.message
    throw error
  }
}

t.test('an index read late equals an index read after each change', async () => {
  const change = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('insert' as const), fields }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('update' as const), pick: fc.nat(), fields }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const) }) },
  )
  check(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const indexes = [{ a: 1 }, { b: 'hashed' }, { 'a.b': -1, b: 1 }]
      const setUp = [createOf('db.c'), ...indexes.map((key) => createIndexOf('db.c', key))]
      const [late, often] = [engineWith(...setUp), engineWith(...setUp)]
      const ids: number[] = []
      let next = 0
      for (const step of changes) {
        if (step.do === 'read') stateOf(late)
        else {
          const at = step.do === 'insert' ? -1 : step.pick % (ids.length || 1)
          if (step.do !== 'insert' && ids.length === 0) continue
          const entry =
            step.do === 'insert'
              ? insertOf('db.c', { ...step.fields, _id: next++ })
              : step.do === 'update'
                ? updateOf('db.c', { ...step.fields, _id: ids[at] })
                : deleteOf('db.c', ids[at]!)
          const refusal = refusalOf(often, entry)
          if (refusalOf(late, entry) !== refusal) return false
          if (refusal === null && step.do === 'insert') ids.push(next - 1)
          else if (refusal === null && step.do === 'delete') ids.splice(at, 1)
          stateOf(often)
        }
      }
      return JSON.stringify(stateOf(late)) === JSON.stringify(stateOf(often))
    }),
    150,
  )
})

t.test('insertAll has the effect of single inserts, or none if one fails', async () => {
  const fresh = fc.record({
    _id: fc.integer({ min: 0, max: 12 }),
    a: fc.option(scalar, { nil: undefined }),
    b: fc.integer({ min: 0, max: 40 }),
  })
  check(
    fc.property(fc.array(fc.array(fresh, { maxLength: 8 }), { maxLength: 4 }), (batches) => {
      const setUp = [
        createOf('db.c'),
        createIndexOf('db.c', { b: 1 }, { unique: true }),
        createIndexOf('db.c', { a: 1 }),
        createIndexOf('db.c', { a: -1, b: 1 }),
      ]
      let [whole, single] = [engineWith(...setUp), engineWith(...setUp)]
      for (const batch of batches) {
        const entries = batch.map((document) => insertOf('db.c', document))
        const attempt = single.clone()
        const refusal = entries.map((entry) => refusalOf(attempt, entry)).find((each) => each !== null) ?? null
        const before = documentsIn(whole)
        let refused = false
        try {
          whole.insertAll(
            'db.c',
            entries.map(({ object }) => object),
          )
        } catch {
          refused = true
        }
        if (refused !== (refusal !== null)) return false
        if (refused && documentsIn(whole) !== before) return false
        if (!refused) single = attempt
        if (documentsIn(whole) !== documentsIn(single)) return false
        whole = whole.clone()
      }
      return true
    }),
    150,
  )
})

/** By index, because record ids may differ. */
function documentsIn(engine: StorageEngine): string {
  const collection = engine.collection('db.c')!
  const text = (recordId: number) => Buffer.from(collection.get(recordId)!.document).toString('hex')
  const inIndexes = collection.indexes().map((index) => {
    const cursor = index.seek({})
    const found: string[] = []
    for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) found.push(text(recordId))
    return found
  })
  return JSON.stringify([
    collection.count,
    collection.dataSizeBytes,
    [...collection.scan()].map(({ recordId }) => text(recordId)),
    inIndexes,
  ])
}
