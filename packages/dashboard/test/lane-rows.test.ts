import assert from 'node:assert/strict'
import type { TimelineItem } from '@shardlab/report'
import fc from 'fast-check'
import t from 'tap'
import { rowsOf } from '../src/page/components/lane-rows.js'

const bar = (fromMs: number, toMs: number | null, tone: TimelineItem['tone'] = 'warn'): TimelineItem => ({
  ...{ fromMs, toMs, text: '', tone },
})

t.test('bars at the same time are below each other', async (t) => {
  const { rows, count } = rowsOf([bar(0, 10), bar(5, null), bar(6, 8), bar(8, 12), bar(10, 11), bar(12, null)])
  t.same(rows, [0, 1, 2, 2, 0, 0])
  t.equal(count, 3)
})

t.test('instants and the background are in the first row, and a lane has at least one', async (t) => {
  t.same(rowsOf([bar(0, null), bar(3, 3, 'fine'), bar(1, 5, 'soft')]), { rows: [0, 0, 0], count: 1 })
  t.same(rowsOf([]), { rows: [], count: 1 })
})

t.test('no bar covers another one, unless there are too many rows', async (t) => {
  const item = fc
    .tuple(fc.nat(100), fc.integer({ min: 1, max: 40 }), fc.boolean())
    .map(([fromMs, ms, isOpen]) => bar(fromMs, isOpen ? null : fromMs + ms))
  fc.assert(
    fc.property(fc.array(item, { maxLength: 30 }), (unordered) => {
      const items = unordered.toSorted((a, b) => a.fromMs - b.fromMs)
      const { rows, count } = rowsOf(items)
      assert.ok(count <= 8)
      for (const [i, a] of items.entries())
        for (const [j, b] of items.entries())
          if (i < j && rows[i] === rows[j] && rows[i]! < 7) assert.ok((a.toMs ?? Infinity) <= b.fromMs)
    }),
  )
  t.pass('all of them')
})
