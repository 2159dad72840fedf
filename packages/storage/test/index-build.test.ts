import fc from 'fast-check'
import t from 'tap'
import { type Document } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { createMemoryEngine, type Collection, type IndexBuild } from '../src/index.js'
import { applyAll, createIndexOf, createOf, deleteOf, insertOf, updateOf } from './support/log.js'

const definitions: readonly (readonly [Document, Document])[] = [
  [{ a: 1 }, {}],
  [{ a: -1, b: 1 }, {}],
  [{ b: 1 }, { unique: true }],
  [{ b: 1 }, { unique: true, partialFilterExpression: { a: { $gt: 2 } } }],
  [{ a: 1 }, { collation: { locale: 'en', strength: 1 } }],
  [{ '$**': 1 }, {}],
]

/** The keys and their record ids, or the error. */
function contents(collection: Collection, name: string): unknown {
  const index = collection.index(name)!
  const cursor = index.scanKeys(undefined, undefined, false)
  const keys: string[] = []
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) keys.push(`${cursor.key} ${recordId}`)
  return { keys, sizeBytes: index.sizeBytes }
}

const value = fc.oneof(fc.nat(5), fc.constantFrom('x', 'X', [1, 2], [3]))
const change = fc.record({
  id: fc.nat(9),
  a: value,
  b: fc.oneof(fc.nat(1000), value),
  deletes: fc.boolean(),
  steps: fc.boolean(),
})

t.test('an index that is built in steps between writes equals one that is built at once (property)', async (t) => {
  await check(
    fc.asyncProperty(
      fc.constantFrom(...definitions),
      fc.array(change, { maxLength: 60, size: 'max' }),
      async ([key, options], changes) => {
        const engine = createMemoryEngine()
        applyAll(engine, [createOf('db.c')])
        const entry = createIndexOf('db.c', key, { ...options, name: 'built' })
        const collection = engine.collection('db.c')!
        const present = new Set<number>()
        const outcome = (work: () => unknown): unknown => {
          try {
            return work()
          } catch (error) {
            return (error as { code: number }).code
          }
        }
        const specification = plain(entry).collection('db.c')!.index('built')!.spec
        let build: IndexBuild | null = null
        let failed = false
        changes.forEach(({ id, a, b, deletes, steps }, i) => {
          if (i === changes.length >> 1) build = collection.startIndexBuild(specification, 0)
          if (deletes && present.delete(id)) engine.apply(deleteOf('db.c', id))
          else {
            engine.apply((present.has(id) ? updateOf : insertOf)('db.c', { _id: id, a, b }))
            present.add(id)
          }
          if (steps && !failed) failed = typeof outcome(() => void build?.step()) === 'number'
        })
        const copy = engine.clone()
        const built = failed ? null : outcome(() => engine.apply(entry))
        const atOnce = outcome(() => copy.apply(entry))
        // A duplicate that exists for a while may end the build.
        if (failed) return true
        if (typeof built === 'number' || typeof atOnce === 'number') return built === atOnce
        const expected = contents(copy.collection('db.c')!, 'built')
        return JSON.stringify(contents(collection, 'built')) === JSON.stringify(expected)
      },
    ),
    500,
  )
  t.pass()
})

function plain(entry: ReturnType<typeof createIndexOf>) {
  const engine = createMemoryEngine()
  applyAll(engine, [createOf('db.c'), entry])
  return engine
}
