import { Deferred, type CancelSignal } from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import type { Alarm, Sleeper } from './clock.js'

const once = { once: true }

/** A member waits, for a time or until a signal: one object for all of it, as there are thousands. */
export abstract class Wait<T> extends Deferred<T> implements Sleeper {
  readonly cell: ActorCell
  /** Null: there is none, or it no longer matters. */
  #alarm: Alarm | null = null
  #signal: CancelSignal | null = null

  constructor(cell: ActorCell) {
    super()
    this.cell = cell
  }

  /** {@link onTimeout} when so much time has passed. */
  endAfter(durationMs: number): void {
    this.#alarm = this.cell.clock.alarm(durationMs, this)
  }

  /** {@link onCancel} when the signal aborts. */
  endWith(signal: CancelSignal): void {
    this.#signal = signal
    signal.addEventListener('abort', this, once)
  }

  /** Neither of them happens any more. */
  disconnect(): void {
    this.#alarm?.cancel()
    this.#alarm = null
    this.#signal?.removeEventListener('abort', this)
    this.#signal = null
  }

  /** The alarm rings; a frozen member does not hear it before it is healed. */
  wake(): void {
    if (this.#alarm !== null && !this.cell.faults.defersWake(this)) this.onTimeout()
  }

  /** The signal aborts. */
  handleEvent(): void {
    this.onCancel()
  }

  protected abstract onTimeout(): void
  protected abstract onCancel(): void
}
