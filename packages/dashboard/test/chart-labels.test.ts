import t from 'tap'
import { placeLabels, readableTicks } from '../src/page/components/chart-labels.js'

const widthOf = (text: string): number => text.length * 7.2

t.test('labels of marks are next to their line, in separate rows where they are close', async (t) => {
  const room = { from: 90, to: 830, rows: 14 }
  const marks = Array.from({ length: 12 }, (_, i) => ({
    x: 90 + i * 66,
    text: `delay between mongos01 and shard0${i} by 50ms`,
  }))
  const placed = placeLabels(marks, room, widthOf)
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
  const rows = placeLabels(plan, { ...room, rows: 8 }, widthOf)
  t.ok(rows.every((label) => label !== null))
  for (const [i, label] of rows.entries())
    for (const [j, other] of rows.entries()) {
      const isBeside = plan[j]!.x <= label!.x || plan[j]!.x >= label!.x + widthOf(label!.text)
      t.ok(isBeside || other!.row > label!.row, `the line of ${j} does not cross the text of ${i}`)
    }
  const long = placeLabels([{ x: 460, text: 'x'.repeat(200) }], room, widthOf)[0]!
  t.ok(long.text.endsWith('…') && widthOf(long.text) <= 370, 'what is too long for either side is shortened')
  const crowd = placeLabels(
    Array.from({ length: 30 }, () => ({ x: 300, text: 'crash shard02' })),
    room,
    widthOf,
  )
  t.equal(crowd.filter((label) => label !== null).length, 2 * room.rows, 'no room on either side: no text')
})

t.test('ticks whose texts would overlap are omitted', async (t) => {
  const ticks = [0, 100, 120, 140, 160, 300].map((x) => ({ x, text: '8,000' }))
  t.same(
    readableTicks(ticks, widthOf).map(({ x }) => x),
    [0, 100, 160, 300],
  )
})
