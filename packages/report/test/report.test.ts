import t from 'tap'
import { heading, lineChart, paragraph, table, type ReportPage } from '../src/index.js'
import { chartOf, rowsOf } from './support/index.js'

t.test('a chart has no functions, gaps are null, and long fractions are rounded', async (t) => {
  const points = [
    [0, 1 / 3],
    [1, null],
    [2, 123_456_789],
  ] as const
  const axis = { label: 'x', format: 'number' } as const
  const chart = lineChart({ title: 'one', x: axis, y: axis, series: [{ name: 'a', tone: 0, points }] })!
  t.same(JSON.parse(JSON.stringify(chart)), chart)
  t.same(chart.series[0]!.points, [
    [0, 0.333333],
    [1, null],
    [2, 123_456_789],
  ])
  const empty = [{ name: 'a', tone: 0, points: [[0, null]] as const }]
  t.equal(lineChart({ title: 'two', x: axis, y: axis, series: empty }), undefined, 'nothing to draw')
})

t.test('a page is the same after it was JSON', async (t) => {
  const page: ReportPage = {
    ...{ shardlabReport: 1, title: 'a', text: 'b' },
    parts: [
      heading(1, 'a'),
      paragraph(['in ', { code: 'a.b' }], 'bad'),
      { kind: 'details', summary: 's', isOpen: false, parts: [table('rows', ['', '#n', '~why'], [['x', '1', 'y']])] },
    ],
  }
  t.strictSame(JSON.parse(JSON.stringify(page)), page)
  t.same(rowsOf(page, 'rows'), [['x', '1', 'y']])
  t.throws(() => chartOf(page, 'none'), /no chart/)
})
