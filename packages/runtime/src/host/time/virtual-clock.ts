import type { Alarm, HostClock, Sleeper } from './clock.js'
import { EventQueue, type Queued } from './event-queue.js'

/** What can be due at some time. */
export abstract class TimedEvent implements Queued<TimedEvent> {
  group = -1
  previous: TimedEvent | null = null
  next: TimedEvent | null = null

  abstract fire(): void
}

class VirtualAlarm extends TimedEvent implements Alarm {
  readonly #queue: EventQueue<TimedEvent>
  readonly #wake: Sleeper | (() => void)

  constructor(queue: EventQueue<TimedEvent>, timeMicros: number, wake: Sleeper | (() => void)) {
    super()
    this.#queue = queue
    this.#wake = wake
    queue.push(timeMicros, this)
  }

  fire(): void {
    if (typeof this.#wake === 'function') this.#wake()
    else this.#wake.wake()
  }

  cancel(): void {
    this.#queue.cancel(this)
  }
}

/** Time that somebody moves, and what is to happen in it. Microseconds inside: exact integers for longer than anybody will wait. */
export class VirtualClock implements HostClock {
  readonly #queue = new EventQueue<TimedEvent>()
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

  at(timeMicros: number, due: TimedEvent): void {
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
    due.fire()
  }

  /** Makes all that is due at the next instant happen, one after the other. What this brings about for the same instant is left for the next call. */
  stepInstant(): void {
    const queue = this.#queue
    const mark = queue.mark()
    let due = queue.pop()
    const time = queue.poppedTime
    if (due !== undefined) this.#nowMicros = time
    for (; due !== undefined; due = queue.popDueAt(time, mark)) due.fire()
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
