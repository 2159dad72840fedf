import type { CancelSignal } from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import type { Alarm, Sleeper } from './clock.js'

/** An actor that waits for time to pass, or for a signal: one object for all of it, as there are thousands. */
export class Sleep implements Sleeper {
  readonly #cell: ActorCell
  readonly #alarm: Alarm
  readonly #resolve: () => void
  #signal: CancelSignal | null = null
  #onAbort: (() => void) | null = null

  constructor(cell: ActorCell, durationMs: number, resolve: () => void) {
    this.#cell = cell
    this.#resolve = resolve
    this.#alarm = cell.faults.alarm(durationMs, this)
    cell.sleeps.add(this.#alarm)
  }

  /** When the signal aborts before the time is over, `cancelled` is called instead. */
  endWith(signal: CancelSignal, cancelled: () => void): void {
    this.#signal = signal
    this.#onAbort = () => {
      this.#alarm.cancel()
      this.#cell.sleeps.delete(this.#alarm)
      cancelled()
    }
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  wake(): void {
    this.#cell.sleeps.delete(this.#alarm)
    if (this.#onAbort !== null) this.#signal!.removeEventListener('abort', this.#onAbort)
    this.#resolve()
  }
}
