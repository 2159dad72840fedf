import t from 'tap'
import type { StreamedEvent } from '../src/index.js'
import { timelineRowsOf } from '../src/page/views/timeline-table.js'

const round = (atMs: number, skipped: string | null): StreamedEvent => ({
  ...{ type: 'balancer-round', atMs, round: atMs / 10, skipped, splits: [], migrations: [], blocked: [] },
  ...{ defragmenting: [], durationMs: 0 },
})
const crash: StreamedEvent = { type: 'member', atMs: 25, member: 'shard02', state: 'crashed' }

t.test('rounds that are skipped one after another for the same reason are one row', async (t) => {
  const rows = timelineRowsOf([
    round(10, 'config has no primary'),
    round(20, 'config has no primary'),
    crash,
    round(30, 'config has no primary'),
    round(40, 'the balancer is off'),
    round(50, 'config has no primary'),
    round(60, null),
    round(70, null),
    round(80, 'the balancer is off'),
    round(120, 'the balancer is off'),
  ])
  t.strictSame(
    rows.map(({ event, count, lastAtMs }) => [event.atMs, count, lastAtMs]),
    [
      [10, 3, 30],
      [25, 1, 25],
      [40, 1, 40],
      [50, 1, 50],
      [60, 1, 60],
      [70, 1, 70],
      [80, 5, 120],
    ],
  )
})
