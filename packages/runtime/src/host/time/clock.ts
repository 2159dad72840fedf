/** A scheduled wake-up. */
export interface Alarm {
  /** Prevents the wake-up; no error when it has happened. */
  cancel(): void
}

/** The receiver of an alarm: an object, so that an alarm needs no closure. */
export interface Sleeper {
  wake(): void
}

/** The time of one host. */
export interface HostClock {
  /** Milliseconds since the epoch, an integer that never goes back. */
  now(): number
  /**
   * Wakes once, not before `delayMs` have passed. With 0 or less: as soon as possible, but never
   * inside this call.
   */
  alarm(delayMs: number, wake: Sleeper | (() => void)): Alarm
}
