import type { Ramp } from '../types.js'
import { nowUs } from './clock.js'

/**
 * When operation `i` starts, after the start of the run. The rate changes linearly over the
 * duration.
 */
export function startOffsetUs(rate: Ramp, durationSecs: number | null): (i: number) => number {
  if (typeof rate === 'number') return (i) => (i / rate) * 1e6
  const { from, to } = rate
  const slope = (to - from) / durationSecs!
  if (slope === 0) return (i) => (i / from) * 1e6
  return (i) => {
    // i = from·t + slope·t²/2; a falling line may never reach i.
    const root = from * from + 2 * slope * i
    return root < 0 ? Number.POSITIVE_INFINITY : ((Math.sqrt(root) - from) / slope) * 1e6
  }
}

/** Number of operations due before this time. */
export function dueBefore(rate: Ramp, durationSecs: number | null): (elapsedUs: number) => number {
  const { from, to } = typeof rate === 'number' ? { from: rate, to: rate } : rate
  const slope = from === to ? 0 : (to - from) / durationSecs!
  return (elapsedUs) => {
    const secs = Math.max(0, elapsedUs / 1e6)
    return Math.ceil(from * secs + (slope * secs * secs) / 2)
  }
}

export function allowedAt(concurrency: Ramp, durationSecs: number | null): (elapsedUs: number) => number {
  if (typeof concurrency === 'number') return () => concurrency
  const { from, to } = concurrency
  return (elapsedUs) => Math.round(from + (to - from) * Math.min(1, Math.max(0, elapsedUs / (durationSecs! * 1e6))))
}

export const highest = (ramp: Ramp): number => (typeof ramp === 'number' ? ramp : Math.max(ramp.from, ramp.to))

/** Timers of Node.js are up to two milliseconds late: busy-wait for the rest. */
const awakeUs = 2000

/** Releases callers at their times, which must ascend. */
export class Pacer {
  readonly #waiting: { atUs: number; go: () => void }[] = []
  #isRunning = false
  #timer: NodeJS.Timeout | undefined

  /** Resolves at `atUs`; undefined: that time has passed. */
  until(atUs: number): Promise<void> | undefined {
    if (atUs <= nowUs()) return undefined
    return new Promise((go) => {
      this.#waiting.push({ atUs, go })
      if (!this.#isRunning) {
        this.#isRunning = true
        this.#turn()
      }
    })
  }

  release(): void {
    // A pending timer would keep the process alive.
    clearTimeout(this.#timer)
    this.#isRunning = false
    for (const { go } of this.#waiting.splice(0)) go()
  }

  #turn = (): void => {
    const waiting = this.#waiting
    const now = nowUs()
    while (waiting.length > 0 && waiting[0]!.atUs <= now) waiting.shift()!.go()
    const next = waiting[0]
    if (next === undefined) {
      this.#isRunning = false
      return
    }
    const leftUs = next.atUs - nowUs()
    if (leftUs > awakeUs) this.#timer = setTimeout(this.#turn, Math.floor((leftUs - awakeUs) / 1000))
    else setImmediate(this.#turn)
  }
}
