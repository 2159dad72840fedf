import type { ActorCell } from './actor-cell.js'
import type { Alarm, Sleeper } from './clock.js'

/** A named timer that has not woken its actor. */
export class ActorTimer implements Sleeper {
  readonly name: string
  readonly dueAtMs: number
  /** Of two timers of a host that are due at the same time, the one that was armed first wakes first. */
  readonly order: number
  readonly #cell: ActorCell
  readonly #onDue: (cell: ActorCell, timer: ActorTimer) => void
  #alarm: Alarm | null

  constructor(
    cell: ActorCell,
    name: string,
    delayMs: number,
    order: number,
    onDue: (cell: ActorCell, timer: ActorTimer) => void,
  ) {
    this.name = name
    this.dueAtMs = cell.clock.now() + delayMs
    this.order = order
    this.#cell = cell
    this.#onDue = onDue
    this.#alarm = cell.clock.alarm(delayMs, this)
  }

  /** A frozen member does not hear it before it is healed. */
  wake(): void {
    if (this.#alarm !== null && !this.#cell.faults.postpones(this)) this.#onDue(this.#cell, this)
  }

  cancel(): void {
    this.#alarm?.cancel()
    this.#alarm = null
  }
}
