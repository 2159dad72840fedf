import type { VirtualClock } from '../host/time/virtual-clock.js'

/** Someone outside who waits for the simulation. */
interface Waiter {
  isDone(): boolean
  /** It does not wait beyond this time; Infinity: as long as anything happens. */
  readonly untilMicros: number
  /** Nothing more happens before its time is over. */
  onTimeOver(): void
  onFailure(error: Error): void
}

const settled = Promise.resolve()
const nothing = (): void => {}

/** How many turns there are until timers and sockets of the process come up. */
const turnsInARow = 64

/** Runs the virtual clock while somebody waits: one instant, then all promise jobs, then what was sent in that turn. */
export class Scheduler {
  readonly #clock: VirtualClock
  readonly #waiters = new Set<Waiter>()
  /** What runs at the end of this turn; behind `#turnEndCount`, nothing: memory that was enough for earlier ones. */
  readonly #turnEnds: (() => void)[] = []
  #turnEndCount = 0
  #running = false
  #turns = 0
  #failure: Error | null = null

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  /** `flush` runs when all promise jobs of this turn have. */
  readonly atEndOfTurn = (flush: () => void): void => {
    this.#turnEnds[this.#turnEndCount++] = flush
  }

  /** Ends the simulation: whoever waits, now or later, gets this error. */
  fail(error: Error): void {
    this.#failure ??= error
  }

  /** Runs until the work has settled. Rejects with `stuck()` when nothing is left to happen before that. */
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

  /** Runs until that time, or with `idle` until nothing is left to happen. @returns whether nothing is left to happen. */
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

  /** Calls {@link #turn} when all promise jobs have run. Now and then whatever else the process does gets its turn. */
  #afterAllJobs(): void {
    if (++this.#turns % turnsInARow === 0) setImmediate(this.#turn)
    // Ticks come when no job is left. From within a tick the next one would come before the jobs: hence a job in between.
    else void settled.then(this.#tick)
  }

  readonly #tick = (): void => process.nextTick(this.#turn)

  readonly #turn = (): void => {
    for (let i = 0; i < this.#turnEndCount; i++) {
      const flush = this.#turnEnds[i]!
      // It would keep a member that has crashed in memory, with all its documents.
      this.#turnEnds[i] = nothing
      flush()
    }
    this.#turnEndCount = 0
    if (this.#failure !== null) this.#dismiss((waiter) => waiter.onFailure(this.#failure!))
    if (this.#waiters.size === 0) {
      this.#running = false
      return
    }
    let isSomeoneDone = false
    for (const waiter of this.#waiters) if (waiter.isDone()) isSomeoneDone = this.#waiters.delete(waiter)
    // Whoever waited may have something new to ask before the others are told that nothing happens any more.
    if (!isSomeoneDone) this.#next()
    this.#afterAllJobs()
  }

  /** Makes happen what is next, or tells that it comes too late for somebody. */
  #next(): void {
    const nextMicros = this.#clock.nextMicros()
    const waiter = this.#mostImpatient()
    if (nextMicros <= waiter.untilMicros && nextMicros !== Infinity) {
      this.#clock.stepInstant()
      return
    }
    if (waiter.untilMicros !== Infinity) this.#clock.skipTo(waiter.untilMicros)
    this.#waiters.delete(waiter)
    waiter.onTimeOver()
  }

  #mostImpatient(): Waiter {
    let first: Waiter | null = null
    for (const waiter of this.#waiters) if (first === null || waiter.untilMicros < first.untilMicros) first = waiter
    return first!
  }

  #dismiss(tell: (waiter: Waiter) => void): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    waiters.forEach(tell)
  }
}
