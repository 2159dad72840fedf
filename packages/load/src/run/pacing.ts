/** When operations of an open loop are to begin. */
import type { Ramp } from '../types.js'
import { nowUs } from './clock.js'

/** Microseconds after the beginning at which operation `i` starts; at a straight line from one rate to another over the duration. */
export function startOffsetUs(rate: Ramp, durationSecs: number | null): (i: number) => number {
  if (typeof rate === 'number') return (i) => (i / rate) * 1e6
  const { from, to } = rate
  const slope = (to - from) / durationSecs!
  if (slope === 0) return (i) => (i / from) * 1e6
  return (i) => {
    // i = from·t + slope·t²/2; a falling line that never gets that far has no such moment.
    const root = from * from + 2 * slope * i
    return root < 0 ? Number.POSITIVE_INFINITY : ((Math.sqrt(root) - from) / slope) * 1e6
  }
}

/** How many operations of an open loop are due before so many microseconds after the beginning have passed. */
export function dueBefore(rate: Ramp, durationSecs: number | null): (elapsedUs: number) => number {
  const { from, to } = typeof rate === 'number' ? { from: rate, to: rate } : rate
  const slope = from === to ? 0 : (to - from) / durationSecs!
  return (elapsedUs) => {
    const secs = Math.max(0, elapsedUs / 1e6)
    return Math.ceil(from * secs + (slope * secs * secs) / 2)
  }
}

/** How many may be in flight after so many microseconds. */
export function allowedAt(concurrency: Ramp, durationSecs: number | null): (elapsedUs: number) => number {
  if (typeof concurrency === 'number') return () => concurrency
  const { from, to } = concurrency
  return (elapsedUs) => Math.round(from + (to - from) * Math.min(1, Math.max(0, elapsedUs / (durationSecs! * 1e6))))
}

export const highest = (ramp: Ramp): number => (typeof ramp === 'number' ? ramp : Math.max(ramp.from, ramp.to))

/** Timers of Node.js are up to two milliseconds late: that is left to a loop that stays awake. */
const awakeUs = 2000

/** Lets callers go at their moments. Moments are asked for in rising order. */
export class Pacer {
  readonly #waiting: { atUs: number; go: () => void }[] = []
  #isRunning = false
  #timer: NodeJS.Timeout | undefined

  /** Resolves at `atUs`, at once when that has passed. */
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

  /** Lets all go that wait. */
  release(): void {
    // Nothing is left that it could be for, and it would keep the process.
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
