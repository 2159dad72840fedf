export interface Alarm {
  /** No error when the wake-up has happened. */
  cancel(): void
}

/** An object, so that an alarm needs no closure. */
export interface Sleeper {
  wake(): void
}

export interface HostClock {
  /** Milliseconds since the epoch, an integer that never goes back. */
  now(): number
  /**
   * Wakes once, not before `delayMs` have passed. With 0 or less: as soon as possible, but never
   * inside this call.
   */
  alarm(delayMs: number, wake: Sleeper | (() => void)): Alarm
}
