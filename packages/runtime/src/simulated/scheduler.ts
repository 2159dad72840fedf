import type { VirtualClock } from '../host/time/virtual-clock.js'
import { TurnLimitError } from './turn-limit-error.js'

interface Waiter {
  isDone(): boolean
  /** Infinity: until no event is due. */
  readonly untilMicros: number
  /** No event is left before that time. */
  onTimeOver(): void
  onFailure(error: Error): void
}

const settled = Promise.resolve()
const nothing = (): void => {}

/** After so many turns the event loop of the process runs once, with its timers and sockets. */
const turnsInARow = 64

/**
 * Runs the virtual clock while a call from outside waits. A turn is: all events of one instant,
 * then all promise jobs, then the flush of the written packets.
 */
export class Scheduler {
  readonly #clock: VirtualClock
  readonly #waiters = new Set<Waiter>()
  /** The flushes of this turn are the first `#turnEndCount` entries. The array keeps its length. */
  readonly #turnEnds: (() => void)[] = []
  #turnEndCount = 0
  #running = false
  readonly #turnsMax: number
  #turns = 0
  #failure: Error | null = null

  constructor(clock: VirtualClock, turnsMax: number) {
    this.#clock = clock
    this.#turnsMax = turnsMax
  }

  get turns(): number {
    return this.#turns
  }

  /** Runs `flush` after all promise jobs of this turn. */
  readonly atEndOfTurn = (flush: () => void): void => {
    this.#turnEnds[this.#turnEndCount++] = flush
  }

  /** Every waiting call, now or later, rejects with this error. */
  fail(error: Error): void {
    this.#failure ??= error
  }

  /** Rejects with `stuck()` when no event is left before the work has settled. */
  during<T>(work: Promise<T>, stuck: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      let settle: (() => void) | null = null
      work.then(
        (value) => (settle = () => resolve(value)),
        (error: unknown) => (settle = () => reject(error)),
      )
      this.#wait({
        isDone: () => {
          settle?.()
          return settle !== null
        },
        untilMicros: Infinity,
        onTimeOver: () => reject(stuck()),
        onFailure: reject,
      })
    })
  }

  /** `idle`: end earlier when no event is left. @returns whether no event is left */
  until(timeMicros: number, idle: boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const isIdle = () => this.#clock.nextMicros() === Infinity
      this.#wait({
        isDone: () => {
          if (!idle || !isIdle()) return false
          resolve(true)
          return true
        },
        untilMicros: timeMicros,
        onTimeOver: () => resolve(isIdle()),
        onFailure: reject,
      })
    })
  }

  #wait(waiter: Waiter): void {
    this.#waiters.add(waiter)
    if (this.#running) return
    this.#running = true
    this.#afterAllJobs()
  }

  /**
   * Runs {@link #turn} after all promise jobs, and every {@link turnsInARow} turns also after
   * timers and sockets of the process.
   */
  #afterAllJobs(): void {
    if (++this.#turns > this.#turnsMax) this.fail(new TurnLimitError(this.#turnsMax))
    if (this.#turns % turnsInARow === 0) setImmediate(this.#turn)
    // Node runs ticks when no promise job is left. But a tick that is added inside a tick runs
    // before the jobs that the first one has made, so add it inside a job.
    else void settled.then(this.#tick)
  }

  readonly #tick = (): void => process.nextTick(this.#turn)

  readonly #turn = (): void => {
    for (let i = 0; i < this.#turnEndCount; i++) {
      const flush = this.#turnEnds[i]!
      // The function would keep a crashed member in memory, with all its documents.
      this.#turnEnds[i] = nothing
      flush()
    }
    this.#turnEndCount = 0
    if (this.#failure !== null) this.#dismiss((waiter) => waiter.onFailure(this.#failure!))
    if (this.#waiters.size === 0) {
      this.#running = false
      return
    }
    let isAnyDone = false
    for (const waiter of this.#waiters) if (waiter.isDone()) isAnyDone = this.#waiters.delete(waiter)
    // Another call may follow one that has ended, so do not report to the others yet that no event
    // is left.
    if (!isAnyDone) this.#next()
    this.#afterAllJobs()
  }

  /** Fires the events of the next instant, or ends the call whose time is over before it. */
  #next(): void {
    const nextMicros = this.#clock.nextMicros()
    const waiter = this.#nextWaiter()
    if (nextMicros <= waiter.untilMicros && nextMicros !== Infinity) {
      this.#clock.stepInstant()
      return
    }
    if (waiter.untilMicros !== Infinity) this.#clock.skipTo(waiter.untilMicros)
    this.#waiters.delete(waiter)
    waiter.onTimeOver()
  }

  #nextWaiter(): Waiter {
    let first: Waiter | null = null
    for (const waiter of this.#waiters) if (first === null || waiter.untilMicros < first.untilMicros) first = waiter
    return first!
  }

  #dismiss(settle: (waiter: Waiter) => void): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    waiters.forEach(settle)
  }
}
