import type { Alarm, HostClock } from './clock.js'
import { EventQueue } from './event-queue.js'

/** Time that somebody moves, and what is to happen in it. Microseconds inside: exact integers for longer than anybody will wait. */
export class VirtualClock implements HostClock {
  readonly #queue = new EventQueue<() => void>()
  #nowMicros: number

  /** `beginMs`: milliseconds since the epoch, an integer. */
  constructor(beginMs: number) {
    this.#nowMicros = beginMs * 1000
  }

  get nowMicros(): number {
    return this.#nowMicros
  }

  now(): number {
    return Math.floor(this.#nowMicros / 1000)
  }

  /** Infinity when nothing will happen. */
  nextMicros(): number {
    return this.#queue.nextTime()
  }

  at(timeMicros: number, happen: () => void): void {
    this.#queue.push(Math.max(timeMicros, this.#nowMicros), happen)
  }

  alarm(delayMs: number, wake: () => void): Alarm {
    let due = true
    const ticket = this.#queue.push(this.#nowMicros + Math.ceil(Math.max(delayMs, 0) * 1000), () => {
      due = false
      wake()
    })
    return {
      cancel: () => {
        // The ticket of something that happened may stand for another alarm by now.
        if (due) this.#queue.cancel(ticket)
        due = false
      },
    }
  }

  /** Makes the next thing happen, at its time. */
  step(): void {
    const happen = this.#queue.pop()
    if (happen === undefined) return
    this.#nowMicros = this.#queue.poppedTime
    happen()
  }

  /** Goes on from another time, which may be an earlier one. What was to happen before the new time happens next. */
  reset(timeMicros: number): void {
    this.#nowMicros = timeMicros
  }

  /** Lets time pass in which nothing happens. */
  skipTo(timeMicros: number): void {
    this.#nowMicros = Math.max(this.#nowMicros, timeMicros)
  }
}
