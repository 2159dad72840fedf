import type { Alarm, HostClock, Sleeper } from './clock.js'

/** A timer of Node with a longer delay fires at once. */
const longestDelayMs = 2 ** 31 - 1

class LiveAlarm implements Alarm {
  /** On the monotonic clock, so that setting the machine's time does not move alarms. */
  readonly #dueAtMs: number
  readonly #wake: Sleeper | (() => void)
  #timer: NodeJS.Timeout

  constructor(delayMs: number, wake: Sleeper | (() => void)) {
    this.#dueAtMs = performance.now() + delayMs
    this.#wake = wake
    this.#timer = this.#wait(delayMs)
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }

  // Node may fire a timer within the millisecond before it is due, which a caller that compares
  // with now() would notice.
  #fire(): void {
    const remainingMs = this.#dueAtMs - performance.now()
    if (remainingMs > 0) this.#timer = this.#wait(remainingMs)
    else if (typeof this.#wake === 'function') this.#wake()
    else this.#wake.wake()
  }

  #wait(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#fire(), Math.min(Math.ceil(delayMs), longestDelayMs)).unref()
  }
}

/** Alarms do not keep the process alive; see `KeepAlive`. */
export class LiveClock implements HostClock {
  #lastMs = 0

  now(): number {
    const nowMs = Date.now()
    if (nowMs > this.#lastMs) this.#lastMs = nowMs
    return this.#lastMs
  }

  alarm(delayMs: number, wake: Sleeper | (() => void)): Alarm {
    return new LiveAlarm(Math.max(delayMs, 0), wake)
  }
}
