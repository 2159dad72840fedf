import type { Alarm, HostClock, Sleeper } from './clock.js'
import { EventQueue, type Queued } from './event-queue.js'

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

/**
 * A clock that its owner moves, with its due events. Microseconds are exact integers until the year
 * 2255.
 */
export class VirtualClock implements HostClock {
  readonly #queue = new EventQueue<TimedEvent>()
  #nowMicros: number

  /** @param beginMs milliseconds since the epoch, an integer */
  constructor(beginMs: number) {
    this.#nowMicros = beginMs * 1000
  }

  get nowMicros(): number {
    return this.#nowMicros
  }

  now(): number {
    return Math.floor(this.#nowMicros / 1000)
  }

  /** Infinity: no event is queued. */
  nextMicros(): number {
    return this.#queue.nextTime()
  }

  at(timeMicros: number, event: TimedEvent): void {
    this.#queue.push(Math.max(timeMicros, this.#nowMicros), event)
  }

  alarm(delayMs: number, wake: Sleeper | (() => void)): Alarm {
    return new VirtualAlarm(this.#queue, this.#nowMicros + Math.ceil(Math.max(delayMs, 0) * 1000), wake)
  }

  /** Moves the time to the next event and fires it. */
  step(): void {
    const event = this.#queue.pop()
    if (event === undefined) return
    this.#nowMicros = this.#queue.poppedTime
    event.fire()
  }

  /**
   * Moves the time to the next event and fires all events of that instant. Events that these add
   * for the same instant are left for the next call.
   */
  stepInstant(): void {
    const queue = this.#queue
    const mark = queue.mark()
    let event = queue.pop()
    const time = queue.poppedTime
    if (event !== undefined) this.#nowMicros = time
    for (; event !== undefined; event = queue.popDueAt(time, mark)) event.fire()
  }

  /** Forwards or back. Events that are due before the new time fire next. */
  reset(timeMicros: number): void {
    this.#nowMicros = timeMicros
  }

  /** Fires no events. */
  skipTo(timeMicros: number): void {
    this.#nowMicros = Math.max(this.#nowMicros, timeMicros)
  }
}
