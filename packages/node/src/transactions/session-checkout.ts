/** One command of a transaction at a time runs in a session. Server: session_catalog.cpp. */
import { createDeferred, type ActorContext, type Deferred } from '@shardlab/actor'
import type { RunningOperation, SessionKey } from '@shardlab/member'
import type { TransactionStatement } from './transaction.js'

export class SessionCheckout {
  readonly #busy = new Map<SessionKey, Deferred<void>>()

  /** @throws CommandError with which the operation was killed */
  async acquire(key: SessionKey, operation: RunningOperation): Promise<void> {
    for (let busy = this.#busy.get(key); busy !== undefined; busy = this.#busy.get(key))
      await operation.interruptible(busy.promise)
    this.#busy.set(key, createDeferred<void>())
  }

  /**
   * Runs another command of the transaction, for which the current one waits. Server:
   * transaction_router_resource_yielder.cpp.
   */
  async whileYielded<T>(
    context: ActorContext,
    { session: { key }, open }: Pick<TransactionStatement, 'session' | 'open'>,
    run: () => Promise<T>,
  ): Promise<T> {
    const operation = open?.operation ?? null
    this.release(key)
    try {
      return await run()
    } finally {
      // Killed operations wait, too: the caller releases the session.
      for (let busy = this.#busy.get(key); busy !== undefined; busy = this.#busy.get(key))
        await context.all([busy.promise])
      this.#busy.set(key, createDeferred<void>())
      if (open !== null) open.operation = operation
    }
  }

  release(key: SessionKey): void {
    const busy = this.#busy.get(key)
    this.#busy.delete(key)
    busy?.resolve()
  }
}
