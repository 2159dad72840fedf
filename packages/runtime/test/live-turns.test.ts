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
  let nowMs = 0
  const turns = new LiveTurns(null, () => nowMs)
  const pieces: number[] = []
  let hops = 0
  const work = longWork(turns, () => {
    pieces.push(hops)
    nowMs += 10
  })
  while (pieces.length === 0) await setImmediate()
  for (; hops < 5; hops++) await hop(turns)
  t.ok(pieces.filter((at) => at > 0).length <= 1, `pieces after these hops: ${pieces.join(', ')}`)
  const before = pieces.length
  while (pieces.length === before) await setImmediate()
  t.pass('then the work goes on')
  work.stop()
})

for (const pieceMs of [10, 2])
  t.test(`a stream of short commands gets about half of the time beside pieces of ${pieceMs} ms`, async (t) => {
    let nowMs = 0
    const turns = new LiveTurns(null, () => nowMs)
    const beganMs: number[] = []
    const work = longWork(turns, () => {
      beganMs.push(nowMs)
      nowMs += pieceMs
    })
    for (; nowMs < 205; nowMs++) await hop(turns)
    work.stop()
    const gaps = beganMs.slice(1).map((ms, i) => ms - beganMs[i]!)
    t.ok(gaps.length >= 8, `${gaps.length}`)
    t.ok(
      gaps.every((gap) => Math.abs(gap - 2 * pieceMs) <= 2),
      gaps.join(', '),
    )
  })

t.test('a piece that was the last delays no later one', async (t) => {
  let nowMs = 0
  const turns = new LiveTurns(null, () => nowMs)
  const piece = (): Promise<void> => new Promise((resolve) => turns.nextTurn({ wake: resolve }))
  await piece()
  nowMs = 10
  await setImmediate()
  nowMs = 1000
  const next = piece()
  await hop(turns)
  let hasBegun = false
  void next.then(() => (hasBegun = true))
  await setImmediate()
  t.ok(hasBegun)
})
