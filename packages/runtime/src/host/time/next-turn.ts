import { Deferred } from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import type { Sleeper } from './clock.js'

/** The rest of work that has given up its turn. It is dropped when its member is gone. */
export class NextTurn extends Deferred<void> implements Sleeper {
  readonly #cell: ActorCell

  constructor(cell: ActorCell, nextTurn: (sleeper: Sleeper) => void) {
    super()
    this.#cell = cell
    nextTurn(this)
  }

  /** A frozen member is woken when it is healed. */
  wake(): void {
    if (!this.#cell.gone && !this.#cell.faults.defersWake(this)) this.resolve()
  }
}
