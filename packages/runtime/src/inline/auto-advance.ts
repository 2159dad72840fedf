import type { VirtualClock } from '../host/time/virtual-clock.js'

export interface WorldActivity {
  /** Resolves when no message is under way and all promise jobs have run. */
  quiet(): Promise<void>
  /** Another call moves the time, or waits for sockets to open or close. */
  isBusy(): boolean
}

/**
 * Moves a manual clock to its next event while a caller from outside waits for an answer and
 * nothing else can happen. Otherwise a client that waits for a shard that is down would wait
 * forever.
 */
export class AutoAdvance {
  readonly #clock: VirtualClock
  readonly #surroundings: WorldActivity
  /** Each returns true when the member that was to answer is gone. */
  readonly #waiting = new Set<() => boolean>()
  #running = false

  constructor(clock: VirtualClock, activity: WorldActivity) {
    this.#clock = clock
    this.#surroundings = activity
  }

  /** `isGone`: no answer can come any more. */
  waitFor(answer: Promise<unknown>, isGone: () => boolean): void {
    // A new function for each caller, as several may pass the same one.
    const waiter = () => isGone()
    this.#waiting.add(waiter)
    answer.then(
      () => this.#waiting.delete(waiter),
      () => this.#waiting.delete(waiter),
    )
    if (this.#running) return
    this.#running = true
    void this.#run()
  }

  async #run(): Promise<void> {
    while (this.#isWaitedFor()) {
      // Twice: a command on a socket takes one turn of the event loop to be read, and another one
      // to be answered.
      await this.#surroundings.quiet()
      await this.#surroundings.quiet()
      if (!this.#isWaitedFor()) break
      if (this.#surroundings.isBusy() || this.#clock.nextMicros() === Infinity)
        await new Promise((resolve) => setTimeout(resolve, 1))
      else this.#clock.step()
    }
    this.#running = false
  }

  #isWaitedFor(): boolean {
    for (const waiter of this.#waiting) if (waiter()) this.#waiting.delete(waiter)
    return this.#waiting.size > 0
  }
}
