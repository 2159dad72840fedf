import type { ActorCell, ArmedTimer } from '../actor-cell.js'
import type { Alarm, Sleeper } from './clock.js'

export class ActorTimer implements ArmedTimer, Sleeper {
  readonly name: string
  readonly dueAtMs: number
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

  /** A frozen member is woken when it is healed. */
  wake(): void {
    if (this.#alarm !== null && !this.#cell.faults.defersWake(this)) this.#onDue(this.#cell, this)
  }

  cancel(): void {
    this.#alarm?.cancel()
    this.#alarm = null
  }
}
