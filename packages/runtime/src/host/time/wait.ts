import { Deferred, type CancelSignal } from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import type { Alarm, Sleeper } from './clock.js'

const once = { once: true }

/**
 * An alarm or a signal can settle the promise. Promise, sleeper and listener are one object,
 * because there are thousands of them.
 */
export abstract class Wait<T> extends Deferred<T> implements Sleeper {
  readonly cell: ActorCell
  /** null: no alarm, or the wait has ended. */
  #alarm: Alarm | null = null
  #signal: CancelSignal | null = null

  constructor(cell: ActorCell) {
    super()
    this.cell = cell
  }

  endAfter(durationMs: number): void {
    this.#alarm = this.cell.clock.alarm(durationMs, this)
  }

  endWith(signal: CancelSignal): void {
    this.#signal = signal
    signal.addEventListener('abort', this, once)
  }

  disconnect(): void {
    this.#alarm?.cancel()
    this.#alarm = null
    this.#signal?.removeEventListener('abort', this)
    this.#signal = null
  }

  /** Called by the alarm. A frozen member is woken when it is healed. */
  wake(): void {
    if (this.#alarm !== null && !this.cell.faults.defersWake(this)) this.onTimeout()
  }

  handleEvent(): void {
    this.onCancel()
  }

  protected abstract onTimeout(): void
  protected abstract onCancel(): void
}
