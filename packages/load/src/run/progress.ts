import type { LoadOptions, Progress } from '../types.js'
import { nowUs } from './clock.js'
import type { LaneProgress } from './lane.js'

const everyMs = 250

export class ProgressTeller {
  readonly #tell: LoadOptions['onProgress']
  readonly #step: string | null
  #phase: Progress['phase'] = 'load'
  #total: number | null = null
  #done = 0
  #errors = 0
  #p99Us: number | null = null
  #lastDone = 0
  #lastUs = nowUs()
  #timer: NodeJS.Timeout | null = null

  constructor(tell: LoadOptions['onProgress'], step: string | null) {
    this.#tell = tell
    this.#step = step
    if (tell !== undefined) this.#timer = setInterval(() => this.#report(), everyMs).unref()
  }

  begin(phase: Progress['phase'], total: number | null): void {
    this.#report()
    this.#phase = phase
    this.#total = total
    this.#done = 0
    this.#lastDone = 0
    this.#errors = 0
    this.#p99Us = null
    this.#lastUs = nowUs()
    // At once, because a short phase may end before the timer's next report.
    this.#report()
  }

  add(count: number): void {
    this.#done += count
  }

  set(done: number): void {
    this.#done = done
  }

  watch(ask: () => Promise<LaneProgress>): { stop(): void } {
    if (this.#tell === undefined) return { stop() {} }
    const timer = setInterval(() => {
      ask().then(
        ({ operations, errors, p99Us }) => {
          this.#done = operations
          this.#errors = errors
          this.#p99Us = p99Us
        },
        () => {},
      )
    }, everyMs).unref()
    return { stop: () => clearInterval(timer) }
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #report(): void {
    const now = nowUs()
    const seconds = (now - this.#lastUs) / 1e6
    if (this.#tell === undefined) return
    this.#tell({
      phase: this.#phase,
      done: this.#done,
      total: this.#total,
      perSecond: seconds <= 0 ? 0 : Math.round((this.#done - this.#lastDone) / seconds),
      errors: this.#errors,
      p99Us: this.#p99Us,
      step: this.#step,
    })
    this.#lastDone = this.#done
    this.#lastUs = now
  }
}
