import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { EvenSample, evenly } from '../src/statistics/even-sample.js'

t.test('of many items some are kept, at even distances', async (t) => {
  fc.assert(
    fc.property(fc.nat(500), fc.integer({ min: 1, max: 30 }), (count, most) => {
      const items = Array.from({ length: count }, (_, i) => i)
      const sample = new EvenSample<number>(most)
      for (const item of items) sample.add(item)
      const kept = sample.items
      const every = kept[1] ?? Infinity
      assert.deepEqual(
        kept,
        items.filter((item) => item % every === 0),
      )
      assert.ok(kept.length <= most && kept.length >= Math.min(count, most / 2))
      const chosen = evenly(items, most)
      assert.equal(chosen.length, Math.min(count, most))
      assert.deepEqual([...new Set(chosen)], chosen)
    }),
  )
  const none = new EvenSample<number>(0)
  none.add(1)
  t.same(none.items, [])
})
