import t from 'tap'
import { coveringLines, lineChart, placeLabels, readableTicks } from '@shardlab/load'

const widthOf = (text: string): number => text.length * 7.2

t.test('labels of marks are next to their line, in separate rows where they are close', (t) => {
  const room = { from: 90, to: 830, rows: 14 }
  const marks = Array.from({ length: 12 }, (_, i) => ({
    x: 90 + i * 66,
    text: `delay between mongos01 and shard0${i} by 50ms`,
  }))
  const placed = placeLabels(marks, room)
  const boxes = placed.map((label) => {
    const from = label!.anchor === 'start' ? label!.x : label!.x - widthOf(label!.text)
    t.ok(from >= room.from && from + widthOf(label!.text) <= room.to, `${label!.text} is not cut off`)
    return { row: label!.row, from, to: from + widthOf(label!.text) }
  })
  boxes.forEach((box, i) =>
    boxes
      .slice(i + 1)
      .forEach((other) =>
        t.notOk(box.row === other.row && box.from < other.to && other.from < box.to, 'none covers another'),
      ),
  )
  const plan = [0, 0, 0, 74, 74, 74, 246, 246].map((x, i) => ({ x: 90 + x, text: `addShardToZone shard0${i} zone eu` }))
  const rows = placeLabels(plan, { ...room, rows: 8 })
  t.ok(rows.every((label) => label !== null))
  for (const [i, label] of rows.entries())
    for (const [j, other] of rows.entries()) {
      const isBeside = plan[j]!.x <= label!.x || plan[j]!.x >= label!.x + widthOf(label!.text)
      t.ok(isBeside || other!.row > label!.row, `the line of ${j} does not cross the text of ${i}`)
    }
  const long = placeLabels([{ x: 460, text: 'x'.repeat(200) }], room)[0]!
  t.ok(long.text.endsWith('…') && widthOf(long.text) <= 370, 'what is too long for either side is shortened')
  const crowd = placeLabels(
    Array.from({ length: 30 }, () => ({ x: 300, text: 'crash shard02' })),
    room,
  )
  t.equal(crowd.filter((label) => label !== null).length, 2 * room.rows, 'no room on either side: no text')
  const chart = lineChart(
    [
      {
        name: 'p99',
        tone: 's0',
        points: [
          [0, 1],
          [9, 2],
        ],
      },
    ],
    {
      ...{ title: '', xLabel: '', yLabel: '', xShown: String, yShown: String },
      marks: Array.from({ length: 30 }, () => ({ x: 3, text: 'crash <shard02>' })),
    },
  )
  const [wide, narrow] = chart.split('</svg>')
  for (const drawing of [wide, narrow]) {
    t.equal(
      drawing!.match(/<line class="mark"[^>]*><title>crash &lt;shard02&gt;<\/title>/g)!.length,
      30,
      'the pointer shows the text of each mark',
    )
    const [, top] = /data-axis="(?:\S+ ){4}(\S+) /.exec(drawing!)!
    const labels = [...drawing!.matchAll(/<text class="marked"[^>]* y="(\d+)"/g)].map(([, y]) => Number(y))
    t.ok(labels.length > 0 && labels.every((y) => y <= Number(top)), 'labels are above the plot')
  }
  t.end()
})

t.test('ticks whose texts would overlap are omitted', (t) => {
  const ticks = [0, 100, 120, 140, 160, 300].map((x) => ({ x, text: '8,000' }))
  t.same(
    readableTicks(ticks).map(({ x }) => x),
    [0, 100, 160, 300],
  )
  t.end()
})

t.test('a line that covers another one has gaps', (t) => {
  const line = (y: number, points = 8) => Array.from({ length: points }, (_, i) => [i * 10, y] as const)
  t.same(coveringLines([line(50), line(50.5), line(90)]), [false, true, false])
  t.same(
    coveringLines([line(50), [...line(50, 1), ...line(70).slice(1)]]),
    [false, false],
    'a place where they cross is none',
  )
  const series = ['all', 'targeted'].map((name, i) => ({
    name,
    tone: `s${i}`,
    points: [
      [0, 5],
      [1, 6],
    ] as const,
  }))
  const chart = lineChart(series, { title: '', xLabel: '', yLabel: '', xShown: String, yShown: String })
  t.match(chart, /class="line s0"[^]*class="line s1 over"/)
  const [, legend] = chart.split('<p class="legend">')
  t.match(legend, /class="line s0"[^]*>all<[^]*class="line s1 over"[^]*>targeted</, 'the legend has the same strokes')
  t.end()
})
