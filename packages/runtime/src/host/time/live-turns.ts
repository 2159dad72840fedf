import type { Sleeper } from './clock.js'

/**
 * The ends of the turns of the event loop. All packets and replies leave first, then one piece of
 * long work gets the rest of the turn: replies never wait for it, and several long operations take
 * turns. Between two pieces Node reads sockets and ports.
 */
export class LiveTurns {
  #flushes: (() => void)[] = []
  readonly #waiting: Sleeper[] = []
  #scheduled = false

  /** Whether long work waits for a turn. */
  get busy(): boolean {
    return this.#waiting.length > 0
  }

  readonly atEndOfTurn = (flush: () => void): void => {
    this.#flushes.push(flush)
    this.#schedule()
  }

  readonly nextTurn = (sleeper: Sleeper): void => {
    this.#waiting.push(sleeper)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#end)
  }

  readonly #end = (): void => {
    this.#scheduled = false
    const flushes = this.#flushes
    this.#flushes = []
    for (let i = 0; i < flushes.length; i++) flushes[i]!()
    this.#waiting.shift()?.wake()
    if (this.#waiting.length > 0) this.#schedule()
  }
}
