import { createDeferred } from '@shardlab/actor'
import t from 'tap'
import { ClockPlayer } from '../src/live/clock-player.js'

t.test('the clock plays while a page is open, and all pages know the speed', async (t) => {
  const speeds: (number | null)[] = []
  const moves: number[] = []
  const movedTwice = createDeferred<void>()
  const stopped = createDeferred<void>()
  const watchers = {
    isWatched: true,
    clockChanged(speed: number | null) {
      if (speed !== speeds.at(-1)) speeds.push(speed)
      if (speed === null && moves.length > 2) stopped.resolve()
    },
  }
  const player = new ClockPlayer(watchers, async (durationMs) => {
    moves.push(durationMs)
    if (moves.length === 3) movedTwice.resolve()
  })
  await player.play(10)
  // The process has nothing else to do, and the player does not keep it alive.
  const alive = setInterval(() => {}, 1000)
  await movedTwice.promise
  watchers.isWatched = false
  await stopped.promise
  clearInterval(alive)
  t.same(moves.slice(0, 3), [0, 2500, 2500])
  t.same(speeds, [null, 10, null])
  await t.rejects(player.play(-1), { name: 'OptionError', message: /^the speed is -1; it must be a number above 0/ })
  await t.rejects(player.play('fast'), { name: 'OptionError' })
})

t.test('a clock that cannot be moved does not play', async (t) => {
  const player = new ClockPlayer({ isWatched: true, clockChanged: () => {} }, async () => {
    throw new Error('the clock is real')
  })
  await t.rejects(player.play(1), { message: 'the clock is real' })
})
