import t from 'tap'
import { setImmediate } from 'node:timers/promises'
import { LiveTurns } from '../src/host/time/live-turns.js'

/** Long work that yields after each piece until it is stopped. */
function longWork(turns: LiveTurns, onPiece: () => void): { stop: () => void } {
  let isStopped = false
  const wake = (): void => {
    onPiece()
    if (!isStopped) turns.nextTurn({ wake })
  }
  turns.nextTurn({ wake })
  return { stop: () => (isStopped = true) }
}

/** As a message to another member of the thread, which answers at once. */
const hop = (turns: LiveTurns): Promise<void> => new Promise((resolve) => turns.atEndOfTurn(resolve))

t.test('a command that needs several turns waits for one piece of long work at most', async (t) => {
  const turns = new LiveTurns(null, () => 0)
  const pieces: number[] = []
  let hops = 0
  const work = longWork(turns, () => pieces.push(hops))
  while (pieces.length === 0) await setImmediate()
  for (; hops < 5; hops++) await hop(turns)
  t.ok(pieces.filter((at) => at > 0).length <= 1, `pieces after these hops: ${pieces.join(', ')}`)
  const before = pieces.length
  while (pieces.length === before) await setImmediate()
  t.pass('then the work goes on')
  work.stop()
})

t.test('long work waits for a stream of short commands as long as a piece takes', async (t) => {
  let nowMs = 0
  const turns = new LiveTurns(null, () => nowMs)
  const beganMs: number[] = []
  const work = longWork(turns, () => {
    beganMs.push(nowMs)
    nowMs += 10
  })
  for (; nowMs < 205; nowMs++) await hop(turns)
  work.stop()
  const gaps = beganMs.slice(1).map((ms, i) => ms - beganMs[i]!)
  t.ok(gaps.length >= 8, `${gaps.length}`)
  t.ok(
    gaps.every((gap) => gap >= 19 && gap <= 21),
    gaps.join(', '),
  )
})
