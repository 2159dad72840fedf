import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { check } from '@shardlab/bson/testing'
import { RunSorter } from '../src/index.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// Files share a process, and code that was compiled under other flags is rejected.
setFlagsFromString('--no-expose-gc')

interface Item {
  readonly key: number
  readonly position: number
}

function sorted(keys: readonly number[]): Item[] {
  const sorter = new RunSorter<Item>((a, b) => a.key - b.key)
  keys.forEach((key, position) => sorter.add({ key, position }))
  const items: Item[] = []
  for (let item = sorter.next(); item !== undefined; item = sorter.next()) items.push(item)
  return items
}

const byKey = (keys: readonly number[]): Item[] =>
  keys.map((key, position) => ({ key, position })).sort((a, b) => a.key - b.key)

t.test('runs are merged into the order of a stable sort', (t) => {
  check(
    fc.property(
      fc.integer({ min: 0, max: 5000 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer(),
      (length, range, seed) => {
        let state = seed >>> 0
        const keys = Array.from({ length }, () => (state = (state * 1664525 + 1013904223) >>> 0) % range)
        const expected = byKey(keys)
        return sorted(keys).every(({ position }, i) => position === expected[i]!.position)
      },
    ),
    100,
  )
  t.end()
})

t.test('sorted and reversed input, and lengths around that of a run', (t) => {
  for (const length of [0, 1, 1023, 1024, 1025, 2048, 2049, 4097]) {
    const keys = Array.from({ length }, (_, i) => i)
    t.same(sorted(keys), byKey(keys))
    t.same(sorted(keys.toReversed()), byKey(keys.toReversed()))
  }
  t.end()
})

t.test('items that were read are not held', (t) => {
  const sorter = new RunSorter<Item>((a, b) => a.key - b.key)
  for (let key = 0; key < 5000; key++) sorter.add({ key, position: key })
  const read = Array.from({ length: 100 }, () => new WeakRef(sorter.next()!))
  // A WeakRef that was made keeps its target until the end of the turn.
  setImmediate(() => {
    collectGarbage()
    t.equal(read.filter((item) => item.deref() !== undefined).length, 0)
    t.equal(sorter.next()!.key, 100)
    t.end()
  })
})
