import t from 'tap'
import type uPlot from 'uplot'
import type { Axis } from '@shardlab/report'
import { logTicks, rangeOf } from '../src/page/components/plot-scales.js'

const axis = (more: Partial<Axis>): Axis => ({ label: '', format: 'number', ...more })
const range = (more: Partial<Axis>, isVertical: boolean, low: number, high: number) =>
  rangeOf(axis(more), isVertical)({} as uPlot, low, high, 'x')

t.test('a logarithmic axis has ticks at 1, 2 and 5, and over a long range at powers of ten alone', async (t) => {
  t.same(logTicks(1, 100), [1, 2, 5, 10, 20, 50, 100])
  t.same(logTicks(200, 2000), [200, 500, 1000, 2000])
  t.same(logTicks(1, 10_000), [1, 10, 100, 1000, 10_000])
})

t.test('a logarithmic axis begins and ends at a tick, also with equal values', async (t) => {
  t.same(range({ scale: 'log' }, true, 110, 180), [100, 200])
  t.same(range({ scale: 'log' }, true, 1000, 1000), [1000, 2000])
  t.same(range({ scale: 'log', ticks: [1, 2, 4] }, false, 1, 4), [1, 4], 'ticks of its own: the values')
})

t.test('a vertical axis begins at 0 or at the given start, and ends at its limit or above its values', async (t) => {
  t.same(range({}, true, 5, 100), [0, 105])
  t.same(range({ from: 1 }, true, 1, 1.000_001), [1, 1.05])
  t.same(range({ format: 'integer' }, true, 0, 0), [0, 1])
  t.same(range({ to: 1 }, true, 0, 0.2), [0, 1])
})

t.test('a horizontal axis covers its points and at least its limits', async (t) => {
  t.same(range({ from: 0, to: 10 }, false, 2, 8), [0, 10])
  t.same(range({}, false, 3, 3), [3, 4])
})
