import type { VirtualClock } from '../host/time/virtual-clock.js'

/** What it looks at before it moves the time. */
export interface WorldActivity {
  /** Resolves when no message is on its way and all promise jobs have run. */
  quiet(): Promise<void>
  /** Somebody else moves the time, or waits for sockets to open or close. */
  isBusy(): boolean
}

/**
 * Moves a manual clock to what is due next while somebody outside waits for an answer and nothing else can happen: a client that waits for a
 * shard that is down would wait for ever.
 */
export class AutoAdvance {
  readonly #clock: VirtualClock
  readonly #surroundings: WorldActivity
  /** Whoever waits; true: in vain, as the member that was to answer is gone. */
  readonly #waiting = new Set<() => boolean>()
  #running = false

  constructor(clock: VirtualClock, activity: WorldActivity) {
    this.#clock = clock
    this.#surroundings = activity
  }

  /** Somebody outside waits for this. `isGone`: nobody will answer any more. */
  waitFor(answer: Promise<unknown>, isGone: () => boolean): void {
    // Its own function: one member may be waited for by many.
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
      // Twice: what comes over a socket takes a turn of the event loop to be read, and another one to be answered.
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
