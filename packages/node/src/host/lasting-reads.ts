/**
 * Reads and their cursors belong to the member, not to what it serves in one state: a change
 * between primary and secondary leaves the data as they are. A read that continues keeps the node
 * and the ownership with which it began; its waits are here.
 */
import { cursorId, type ActorContext, type Address, type Random } from '@shardlab/actor'
import { OperationRegistry, type RunningOperation } from '@shardlab/member'
import { CursorManager, type CursorLimits } from '../cursors/cursor-manager.js'
import { InsertWaiters } from '../cursors/insert-waiters.js'
import type { ReadWaits } from '../cursors/read-waits.js'
import { RevocableContext } from '../replication/serving/revocable-context.js'
import type { NodeHost } from './node-host.js'
import { onlyReads } from './operation-access.js'

export class LastingReads implements ReadWaits {
  readonly cursors: CursorManager
  readonly insertWaiters = new InsertWaiters()
  readonly operations = new OperationRegistry()
  /** The node that serves now. */
  node!: NodeHost
  /** Determines the ids of cursors. */
  cursorIds: Random
  readonly #memberContext: ActorContext
  readonly #setName: Address
  #context: RevocableContext
  readonly #waiting = new Map<RunningOperation, number>()

  constructor(context: ActorContext, setName: Address, limits: Partial<CursorLimits>) {
    this.#memberContext = context
    this.#setName = setName
    this.#context = new RevocableContext(context, setName)
    this.cursorIds = context.random.fork('cursor-ids')
    this.cursors = new CursorManager(
      () => cursorId(this.cursorIds),
      (limit, value) => context.emit({ type: 'limit', atMs: context.now(), member: setName, limit, value }),
      limits,
    )
  }

  get context(): ActorContext {
    return this.#context
  }

  async during<T>(
    ofState: ActorContext,
    operation: RunningOperation,
    wait: (context: ActorContext) => Promise<T>,
  ): Promise<T> {
    if (!onlyReads(this.node, operation)) return wait(ofState)
    const waiting = this.#waiting
    waiting.set(operation, (waiting.get(operation) ?? 0) + 1)
    try {
      return await wait(this.#context)
    } finally {
      const others = (waiting.get(operation) ?? 1) - 1
      if (others === 0) waiting.delete(operation)
      else waiting.set(operation, others)
    }
  }

  /** Whether the operation outlasts a change of the state now. */
  isLasting(operation: RunningOperation): boolean {
    return this.#waiting.has(operation)
  }

  /**
   * No wait of a read settles any more. `Serving.end`, which must follow, replies to these reads
   * and closes the cursors that they use. Idle cursors stay open.
   */
  end(): void {
    this.#context.revoke()
    this.#waiting.clear()
    this.insertWaiters.clear()
    this.#context = new RevocableContext(this.#memberContext, this.#setName)
  }
}
