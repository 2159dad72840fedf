import { Deferred, type CancelSignal } from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import type { Alarm, Sleeper } from './clock.js'

const once = { once: true }

/**
 * A promise of a member that an alarm or a signal can settle. Promise, alarm's receiver and
 * signal's listener are one object, because there are thousands of them.
 */
export abstract class Wait<T> extends Deferred<T> implements Sleeper {
  readonly cell: ActorCell
  /** Null: the wait has no alarm, or has ended. */
  #alarm: Alarm | null = null
  #signal: CancelSignal | null = null

  constructor(cell: ActorCell) {
    super()
    this.cell = cell
  }

  /** Calls {@link onTimeout} after that time. */
  endAfter(durationMs: number): void {
    this.#alarm = this.cell.clock.alarm(durationMs, this)
  }

  /** Calls {@link onCancel} when the signal aborts. */
  endWith(signal: CancelSignal): void {
    this.#signal = signal
    signal.addEventListener('abort', this, once)
  }

  /** Removes the alarm and the listener. */
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

  /** Called by the signal. */
  handleEvent(): void {
    this.onCancel()
  }

  protected abstract onTimeout(): void
  protected abstract onCancel(): void
}
