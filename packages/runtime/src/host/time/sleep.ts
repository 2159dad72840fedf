import type { RequestFailedError } from '@shardlab/actor'
import type { ActorCell, PendingSleep } from '../actor-cell.js'
import { Wait } from './wait.js'

export class Sleep extends Wait<void> implements PendingSleep {
  previous: PendingSleep | null = null
  next: PendingSleep | null = null
  readonly #cancellation: () => RequestFailedError

  /** @param cancellation makes the error for an aborted signal */
  constructor(cell: ActorCell, durationMs: number, cancellation: () => RequestFailedError) {
    super(cell)
    this.#cancellation = cancellation
    this.endAfter(durationMs)
    cell.sleeps.add(this)
  }

  protected onTimeout(): void {
    this.#end()
    this.resolve()
  }

  protected onCancel(): void {
    this.#end()
    this.reject(this.#cancellation())
  }

  #end(): void {
    this.disconnect()
    this.cell.sleeps.delete(this)
  }
}
