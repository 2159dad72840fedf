import { OptionError } from '../option-error.js'

interface ClockWatchers {
  /** A page is open. */
  readonly isWatched: boolean
  /** @param speed null: the clock stands still */
  clockChanged(speed: number | null): void
}

const tickMs = 250
const speedMax = 86_400

/** Moves a manual clock for all pages together, while one of them is open. */
export class ClockPlayer {
  readonly #watchers: ClockWatchers
  readonly #move: (durationMs: number) => Promise<void>
  #speed: number | null = null
  #timer: NodeJS.Timeout | null = null
  #isMoving = false

  /** @param move advances the clock. @throws OptionError the clock is not manual */
  constructor(watchers: ClockWatchers, move: (durationMs: number) => Promise<void>) {
    this.#watchers = watchers
    this.#move = move
  }

  /** @throws OptionError */
  async advance(durationMs: number): Promise<void> {
    await this.#move(durationMs)
    this.#watchers.clockChanged(this.#speed)
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
      await this.advance(0)
    } catch (error) {
      // The clock is real.
      this.#stop()
      throw error
    }
    if (speed === null || this.#speed !== speed || this.#timer !== null) return
    this.#timer = setInterval(() => void this.#tick(speed), tickMs).unref()
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#speed = null
    this.#watchers.clockChanged(null)
  }

  /** A move that takes longer than a tick delays the next one. */
  async #tick(speed: number): Promise<void> {
    if (this.#isMoving) return
    if (!this.#watchers.isWatched) return this.#stop()
    this.#isMoving = true
    try {
      await this.advance(tickMs * speed)
    } catch {
      // The cluster has been stopped.
      this.#stop()
    } finally {
      this.#isMoving = false
    }
  }
}
