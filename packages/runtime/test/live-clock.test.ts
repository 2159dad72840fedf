import t from 'tap'
import { LiveClock } from '../src/host/time/live-clock.js'

t.test('now is an integer that never goes back', async (test) => {
  const clock = new LiveClock()
  const before = clock.now()
  test.ok(Number.isInteger(before))
  const { now } = Date
  Date.now = () => before - 60_000
  test.equal(clock.now(), before)
  Date.now = () => before + 5
  test.equal(clock.now(), before + 5)
  Date.now = now
})

/** Replaces timers by a list, with a time that the test sets. */
function withFakeTimers(
  run: (timers: { delayMs: number; fire: () => void }[], advance: (ms: number) => void) => void,
): void {
  const real = { setTimeout: globalThis.setTimeout, now: performance.now.bind(performance) }
  const timers: { delayMs: number; fire: () => void }[] = []
  let nowMs = 1000
  globalThis.setTimeout = ((fire: () => void, delayMs: number) => {
    timers.push({ delayMs, fire })
    return { unref: () => undefined }
  }) as unknown as typeof setTimeout
  performance.now = () => nowMs
  try {
    run(timers, (ms) => (nowMs += ms))
  } finally {
    globalThis.setTimeout = real.setTimeout
    performance.now = real.now
  }
}

t.test('an alarm is not early when its timer is', async (test) => {
  withFakeTimers((timers, advance) => {
    let woken = 0
    new LiveClock().alarm(10, () => woken++)
    advance(9.4)
    timers[0]!.fire()
    test.equal(woken, 0)
    test.equal(timers[1]!.delayMs, 1)
    advance(0.6)
    timers[1]!.fire()
    test.equal(woken, 1)
  })
})

t.test('an alarm may have a longer delay than a timer of Node', async (test) => {
  withFakeTimers((timers, advance) => {
    let woken = 0
    const month = 31 * 24 * 3_600_000
    new LiveClock().alarm(month, () => woken++)
    test.equal(timers[0]!.delayMs, 2 ** 31 - 1)
    advance(2 ** 31 - 1)
    timers[0]!.fire()
    test.equal(timers[1]!.delayMs, month - (2 ** 31 - 1))
    advance(month)
    timers[1]!.fire()
    test.equal(woken, 1)
  })
})
