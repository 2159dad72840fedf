import type { LiveClock } from '@shardlab/dashboard'
import { OptionError } from '../option-error.js'

/** The clock stands still when both are null. */
export type ClockMotion = Pick<LiveClock, 'speed' | 'untilMs'>

interface ClockWatchers {
  /** A page is open. */
  readonly isWatched: boolean
  clockChanged(motion: ClockMotion): void
}

interface MovedClock {
  now(): number
  /** @throws OptionError the clock is not manual, or the time is wrong */
  advance(duration: number): Promise<void>
}

const tickMs = 250
const speedMax = 86_400
/** A longer step has parts, so that pages show its progress and can stop it. */
const partMs = 60_000
const partsMax = 1000

/** Moves a manual clock for all pages together, while one of them is open. */
export class ClockPlayer {
  readonly #watchers: ClockWatchers
  readonly #clock: MovedClock
  #speed: number | null = null
  /** A long one. */
  #step: { readonly untilMs: number } | null = null
  #timer: NodeJS.Timeout | null = null
  #isMoving = false

  constructor(watchers: ClockWatchers, clock: MovedClock) {
    this.#watchers = watchers
    this.#clock = clock
  }

  /**
   * Resolves when the time is reached, or a page has stopped the clock.
   * @throws OptionError
   */
  async advance(durationMs: number): Promise<void> {
    if (this.#step !== null) throw new OptionError('the clock is moving: stop it first.')
    const untilMs = this.#clock.now() + durationMs
    const mostMs = Math.max(partMs, durationMs / partsMax)
    const step = durationMs > mostMs ? { untilMs } : null
    this.#step = step
    try {
      do await this.#move(Math.min(untilMs - this.#clock.now(), mostMs))
      while (step !== null && this.#step === step && this.#clock.now() < untilMs)
    } finally {
      // A page may have stopped this step, and started another one.
      if (this.#step === step) this.#step = null
      this.#notify()
    }
  }

  /**
   * @param speed seconds of the cluster in one of reality; null: it stands still
   * @throws OptionError
   */
  async play(speed: unknown): Promise<void> {
    if (speed !== null && !(typeof speed === 'number' && speed > 0 && speed <= speedMax))
      throw new OptionError(`the speed is ${JSON.stringify(speed)}; it must be a number above 0, up to ${speedMax}.`)
    this.#stop()
    this.#speed = speed
    try {
      await this.#move(0)
    } catch (error) {
      // The clock is real.
      this.#stop()
      throw error
    }
    if (speed === null || this.#speed !== speed || this.#timer !== null) return
    this.#timer = setInterval(() => void this.#tick(speed), tickMs).unref()
  }

  async #move(durationMs: number): Promise<void> {
    await this.#clock.advance(durationMs)
    this.#notify()
  }

  #notify(): void {
    this.#watchers.clockChanged({ speed: this.#speed, untilMs: this.#step?.untilMs ?? null })
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#speed = null
    this.#step = null
    this.#notify()
  }

  /** A move that takes longer than a tick delays the next one. */
  async #tick(speed: number): Promise<void> {
    if (this.#isMoving) return
    if (!this.#watchers.isWatched) return this.#stop()
    this.#isMoving = true
    try {
      await this.#move(tickMs * speed)
    } catch {
      // The cluster has been stopped.
      this.#stop()
    } finally {
      this.#isMoving = false
    }
  }
}
