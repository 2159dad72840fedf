import type { Alarm, HostClock, Sleeper } from './clock.js'
import { EventQueue, type Queued } from './event-queue.js'

/** What can be due at some time. */
export abstract class Due implements Queued<Due> {
  group = -1
  previous: Due | null = null
  next: Due | null = null

  abstract ring(): void
}

class VirtualAlarm extends Due implements Alarm {
  readonly #queue: EventQueue<Due>
  readonly #wake: Sleeper | (() => void)

  constructor(queue: EventQueue<Due>, timeMicros: number, wake: Sleeper | (() => void)) {
    super()
    this.#queue = queue
    this.#wake = wake
    queue.push(timeMicros, this)
  }

  ring(): void {
    if (typeof this.#wake === 'function') this.#wake()
    else this.#wake.wake()
  }

  cancel(): void {
    this.#queue.cancel(this)
  }
}

/** Time that somebody moves, and what is to happen in it. Microseconds inside: exact integers for longer than anybody will wait. */
export class VirtualClock implements HostClock {
  readonly #queue = new EventQueue<Due>()
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

  at(timeMicros: number, due: Due): void {
    this.#queue.push(Math.max(timeMicros, this.#nowMicros), due)
  }

  alarm(delayMs: number, wake: Sleeper | (() => void)): Alarm {
    return new VirtualAlarm(this.#queue, this.#nowMicros + Math.ceil(Math.max(delayMs, 0) * 1000), wake)
  }

  /** Makes the next thing happen, at its time. */
  step(): void {
    const due = this.#queue.pop()
    if (due === undefined) return
    this.#nowMicros = this.#queue.poppedTime
    due.ring()
  }

  /** Makes all that is due at the next instant happen, one after the other. What this brings about for the same instant is left for the next call. */
  stepInstant(): void {
    const queue = this.#queue
    const mark = queue.mark()
    let due = queue.pop()
    const time = queue.poppedTime
    if (due !== undefined) this.#nowMicros = time
    for (; due !== undefined; due = queue.popDueAt(time, mark)) due.ring()
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
