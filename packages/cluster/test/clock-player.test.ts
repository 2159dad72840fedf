import { createDeferred } from '@shardlab/actor'
import t from 'tap'
import { ClockPlayer, type ClockMotion } from '../src/live/clock-player.js'

t.test('the clock plays while a page is open, and all pages know the speed', async (t) => {
  const speeds: (number | null)[] = []
  const moves: number[] = []
  const movedTwice = createDeferred<void>()
  const stopped = createDeferred<void>()
  const watchers = {
    isWatched: true,
    clockChanged({ speed }: ClockMotion) {
      if (speed !== speeds.at(-1)) speeds.push(speed)
      if (speed === null && moves.length > 2) stopped.resolve()
    },
  }
  const player = new ClockPlayer(watchers, {
    now: () => 0,
    async advance(durationMs) {
      moves.push(durationMs)
      if (moves.length === 3) movedTwice.resolve()
    },
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
  const advance = async (): Promise<void> => {
    throw new Error('the clock is real')
  }
  const player = new ClockPlayer({ isWatched: true, clockChanged: () => {} }, { now: () => 0, advance })
  await t.rejects(player.play(1), { message: 'the clock is real' })
  await t.rejects(player.advance(1), { message: 'the clock is real' })
})

t.test('a long step has parts, and any page stops it', async (t) => {
  let nowMs = 1000
  let stopsAtMs = Infinity
  const motions: ClockMotion[] = []
  const watchers = { isWatched: true, clockChanged: (motion: ClockMotion) => void motions.push(motion) }
  const player: ClockPlayer = new ClockPlayer(watchers, {
    now: () => nowMs,
    async advance(durationMs) {
      nowMs += durationMs
      if (durationMs > 0 && nowMs >= stopsAtMs) await player.play(null)
    },
  })
  await player.advance(1500)
  t.equal(nowMs, 2500)
  t.same(motions, [...Array(2)].fill({ speed: null, untilMs: null }), 'a short step is over at once')
  motions.length = 0
  const hour = player.advance(3_600_000)
  await t.rejects(player.advance(1), { message: 'the clock is moving: stop it first.' })
  await hour
  t.equal(nowMs, 3_602_500)
  t.equal(motions.length, 61, 'a part is a minute')
  t.same(
    [motions[0], motions.at(-1)],
    [
      { speed: null, untilMs: nowMs },
      { speed: null, untilMs: null },
    ],
  )
  stopsAtMs = nowMs + 120_000
  await player.advance(3_600_000)
  t.equal(nowMs, stopsAtMs)
  await player.advance(1000)
  t.equal(nowMs, stopsAtMs + 1000, 'it moves again')
})

t.test('a step that was stopped does not move the clock for the next one', async (t) => {
  let nowMs = 0
  const next: Promise<void>[] = []
  const watchers = { isWatched: true, clockChanged: () => {} }
  const player: ClockPlayer = new ClockPlayer(watchers, {
    now: () => nowMs,
    async advance(durationMs) {
      if (durationMs > 0 && next.length === 0) {
        await player.play(null)
        next.push(player.advance(120_000))
      }
      nowMs += durationMs
    },
  })
  await player.advance(3_600_000)
  await Promise.all(next)
  t.equal(nowMs, 180_000)
})
