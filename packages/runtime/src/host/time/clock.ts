/** A wake-up that has not happened yet. */
export interface Alarm {
  /** It will not happen; no error when it has. */
  cancel(): void
}

/** Whom an alarm wakes. */
export interface Sleeper {
  wake(): void
}

/** Time as one host sees it. */
export interface HostClock {
  /** Milliseconds since the epoch, an integer that never goes back. */
  now(): number
  /** Wakes once, not before `delayMs` have passed; 0 or less: as soon as possible, but never at once. */
  alarm(delayMs: number, wake: Sleeper | (() => void)): Alarm
}
