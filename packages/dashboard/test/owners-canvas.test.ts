import t from 'tap'
import type { Owners } from '@shardlab/report'
import { edgesOf, leastWidth, marginLeft, pointedAt, rangeWidthLeast } from '../src/page/components/owners-canvas.js'

const owners: Owners = {
  ...{ ns: 'a.b', bounds: ['{"k":0}', '{"k":10}', '{"k":100}'], zones: [] },
  widths: [{ name: 'bytes', title: 'bytes', shares: [0.6, 0.3, 0.1] }],
  rows: [
    [[0, 3, 0]],
    [
      [0, 1, 1],
      [1, 3, 0],
    ],
  ],
}

t.test('ranges are as wide as their shares, and none is narrower than a pixel', async (t) => {
  const edges = edgesOf([0.6, 0.3, 0.1], 1000)
  t.same(
    edges.map((edge) => Math.round(edge / 10)),
    [0, 60, 90, 100],
  )
  const crowded = edgesOf([1, ...Array.from({ length: 200 }, () => 1e-9)], 1000)
  crowded.slice(1).forEach((edge, i) => t.ok(edge - crowded[i]! >= rangeWidthLeast - 1e-9))
  t.ok(
    leastWidth({ ...owners, bounds: Array.from({ length: 500 }, String) }) > 1000,
    'a map with more of them is wider',
  )
})

t.test('the pointer is at an instant, a range and its owner', async (t) => {
  const data = { owners, times: ['0s', '1m'], shards: 2, widths: owners.widths[0]!.shares, instant: 0, stressed: null }
  const at = (x: number, y: number) => pointedAt(data, { width: 1000, x: marginLeft + x, y })
  t.same(at(10, 50), { row: 1, range: 0, shard: 1 })
  t.same(at(900, 50), { row: 1, range: 2, shard: 0 })
  t.same(at(10, 35), { row: 0, range: 0, shard: 0 })
  t.equal(at(-20, 35), null, 'a time')
  t.equal(at(10, 500), null, 'below the map')
})
